package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// machine is where and of what the figures were measured. What the system does
// not tell is "unknown".
type machine struct {
	processor string
	caches    string
	cores     int
	memory    string
	system    string
	compiler  string
	commit    string
	date      string
	command   string
}

const unknown = "unknown"

func describeMachine(root string, args []string) machine {
	return machine{
		processor: orUnknown(field("/proc/cpuinfo", "model name")),
		caches:    orUnknown(caches()),
		cores:     runtime.GOMAXPROCS(0),
		memory:    orUnknown(memory()),
		system:    strings.TrimSpace(runtime.GOOS + "/" + runtime.GOARCH + " " + firstLine("/proc/sys/kernel/osrelease")),
		compiler:  runtime.Version(),
		commit:    orUnknown(commit(root)),
		date:      time.Now().Format(time.DateOnly),
		command:   commandLine(args),
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

// commandLine is how to measure again. Of files and folders it keeps the last
// element: where they lie is the affair of whoever measures.
func commandLine(args []string) string {
	words := []string{"go run ./bench/graphtables"}
	if os.Getenv(dataVariable) != "" {
		words[0] = dataVariable + "=DATA " + words[0]
	}
	for _, arg := range args {
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

// rows are what the report shows of the machine.
func (m machine) rows() [][2]string {
	return [][2]string{
		{"processor", m.processor}, {"cores", strconv.Itoa(m.cores)}, {"caches", m.caches}, {"memory", m.memory}, {"system", m.system},
		{"compiler", m.compiler}, {"commit", m.commit}, {"date", m.date}, {"command", "`" + m.command + "`"},
	}
}

// foot is what a plot says of the machine.
func (m machine) foot() string {
	return strings.Join([]string{m.processor + ", " + cores(m.cores), m.command, "commit " + m.commit, m.date}, " · ")
}
