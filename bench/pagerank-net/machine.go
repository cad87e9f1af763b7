package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is where the figures were measured. What the system does not tell is
// "unknown".
type machine struct {
	processor, system, compiler, commit, date, command string
	cores                                              int
}

func describeMachine(args []string) machine {
	m := machine{
		processor: "unknown", commit: "unknown", cores: runtime.NumCPU(), compiler: runtime.Version(),
		system: runtime.GOOS + "/" + runtime.GOARCH, date: time.Now().Format(time.DateOnly), command: commandLine(args),
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				m.processor = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.system += " " + strings.TrimSpace(string(text))
	}
	if text, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output(); err == nil {
		m.commit = strings.TrimSpace(string(text))
	}
	return m
}

// commandLine is how to measure again: what the script adds is left out, and of files and folders
// all but the last element.
func commandLine(args []string) string {
	words := []string{"bench/pagerank-net/run.sh"}
	for i := 0; i < len(args); i++ {
		if args[i] == "--prefix" || args[i] == "--weir" {
			i++
			continue
		}
		word := args[i]
		if strings.Contains(word, "/") {
			name, value, found := strings.Cut(word, "=")
			if word = filepath.Base(word); found {
				word = name + "=" + filepath.Base(value)
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (m machine) rows() [][2]string {
	return [][2]string{
		{"processor", m.processor}, {"cores", strconv.Itoa(m.cores)}, {"system", m.system}, {"compiler", m.compiler},
		{"commit", m.commit}, {"date", m.date}, {"command", "`" + m.command + "`"},
	}
}

// foot is what a plot says of the machine.
func (m machine) foot() string {
	return strings.Join([]string{m.processor + ", " + strconv.Itoa(m.cores) + " cores", m.command, "commit " + m.commit, m.date}, " · ")
}
