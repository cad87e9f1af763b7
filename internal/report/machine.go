package report

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Machine is where and of what figures were measured. What the system does not tell
// is "unknown".
type Machine struct {
	Processor string
	Caches    string
	Cores     int
	Memory    string
	System    string
	Compiler  string
	Commit    string
	Date      string
	Command   string
}

const unknown = "unknown"

// Describe looks at this machine, and at the sources in root. The command is how to measure
// again, as [CommandLine] makes it.
func Describe(root, command string) Machine {
	return Machine{
		Processor: orUnknown(field("/proc/cpuinfo", "model name")),
		Caches:    orUnknown(caches()),
		Cores:     runtime.GOMAXPROCS(0),
		Memory:    orUnknown(memory()),
		System:    strings.TrimSpace(runtime.GOOS + "/" + runtime.GOARCH + " " + firstLine("/proc/sys/kernel/osrelease")),
		Compiler:  runtime.Version(),
		Commit:    orUnknown(commit(root)),
		Date:      time.Now().Format(time.DateOnly),
		Command:   command,
	}
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// field is the value of the first line "name : value" of a file of the kernel.
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

func memory() string {
	kib, found := strings.CutSuffix(field("/proc/meminfo", "MemTotal"), " kB")
	n, err := strconv.ParseUint(kib, 10, 64)
	if !found || err != nil {
		return ""
	}
	return humanize.IBytes(n * 1024)
}

// caches lists the levels that hold data.
func caches() string {
	dirs, err := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	if err != nil {
		return ""
	}
	var levels []string
	for _, dir := range dirs {
		if firstLine(filepath.Join(dir, "type")) == "Instruction" {
			continue
		}
		level, size := firstLine(filepath.Join(dir, "level")), firstLine(filepath.Join(dir, "size"))
		if kib, found := strings.CutSuffix(size, "K"); found {
			if n, err := strconv.ParseUint(kib, 10, 64); err == nil {
				size = humanize.IBytes(n * 1024)
			}
		}
		if level != "" && size != "" {
			levels = append(levels, "L"+level+" "+size)
		}
	}
	return strings.Join(levels, ", ")
}

// commit names the revision of the source, and says whether it has changed since.
func commit(root string) string {
	git := func(args ...string) (string, error) {
		text, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(text)), err
	}
	revision, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	changes, err := git("status", "--porcelain", "--untracked-files=no")
	if err == nil && changes != "" {
		revision += ", modified"
	}
	return revision
}

// CommandLine is how to measure again. Of files and folders it keeps the last
// element: where they lie is the affair of whoever measures. It leaves out the flags that a script added,
// which have their values in the next argument.
func CommandLine(program string, args []string, added ...string) string {
	words := []string{program}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if slices.Contains(added, arg) {
			i++
			continue
		}
		name, value, found := strings.Cut(arg, "=")
		switch {
		case found && strings.ContainsAny(value, `/\`):
			arg = name + "=" + filepath.Base(value)
		case !found && strings.ContainsAny(arg, `/\`):
			arg = filepath.Base(arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// rows are what a report shows of the machine.
func (m Machine) rows() [][2]string {
	return [][2]string{
		{"processor", m.Processor}, {"cores", strconv.Itoa(m.Cores)}, {"caches", m.Caches}, {"memory", m.Memory}, {"system", m.System},
		{"compiler", m.Compiler}, {"commit", m.Commit}, {"date", m.Date}, {"command", "`" + m.Command + "`"},
	}
}

// Foot is what a plot says of the machine.
func (m Machine) Foot() string {
	return strings.Join([]string{m.Processor + ", " + Count(m.Cores, "core"), m.Command, "commit " + m.Commit, m.Date}, " · ")
}

// Count says how many, in words: 1 core, 2 cores.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
