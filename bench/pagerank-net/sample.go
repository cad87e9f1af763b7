package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// sampleEvery is how often use is looked at, as in the publication. The kernel counts processor
// time in hundredths of a second.
const (
	sampleEvery = 100 * time.Millisecond
	tick        = 10 * time.Millisecond
)

// usage is what a process has used so far: processor time, and bytes that went
// through the interface of its host.
type usage struct {
	at             time.Time
	cpu            time.Duration
	sent, received int64
}

// use reads what a process has used, from the files that the kernel has of it.
func use(pid int) (usage, error) {
	u := usage{at: time.Now()}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var program string
	if err == nil {
		program, u.cpu, err = parseStat(stat)
	}
	if program == "ip" {
		err = fmt.Errorf("process %d is yet to enter its host", pid)
	}
	if err != nil {
		return u, err
	}
	dev, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/dev", pid))
	if err == nil {
		u.sent, u.received, err = parseDev(dev)
	}
	return u, err
}

// parseStat finds the name of the program, which is in parentheses and may have blanks,
// and its processor time in a stat file.
func parseStat(text []byte) (program string, cpu time.Duration, err error) {
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return "", 0, fmt.Errorf("stat of a process: no name in %q", text)
	}
	program = string(text[begin+1 : end])
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 13 {
		return "", 0, fmt.Errorf("stat of a process: %d fields, expected 13 and more", len(fields))
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("stat of a process: %w", err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("stat of a process: %w", err)
	}
	return program, time.Duration(user+system) * tick, nil
}

// parseDev finds the bytes of interface eth0.
func parseDev(text []byte) (sent, received int64, err error) {
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "eth0" {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) < 9 {
			return 0, 0, fmt.Errorf("interface eth0: %d fields, expected 9 and more", len(fields))
		}
		if received, err = strconv.ParseInt(fields[0], 10, 64); err == nil {
			sent, err = strconv.ParseInt(fields[8], 10, 64)
		}
		return sent, received, err
	}
	return 0, 0, fmt.Errorf("there is no interface eth0")
}

// trace is the use of all processes over time, at the same moments.
type trace struct {
	start     time.Time
	processes [][]usage // by process
}

// follow samples processes until stop is closed.
func follow(pids []int, stop <-chan struct{}) *trace {
	t := &trace{start: time.Now(), processes: make([][]usage, len(pids))}
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		for i, pid := range pids {
			// One that has ended has no more to add.
			if u, err := use(pid); err == nil {
				t.processes[i] = append(t.processes[i], u)
			}
		}
		select {
		case <-stop:
			return t
		case <-ticker.C:
		}
	}
}

// rates is how much of the machine's processors all processes used, and of its link the busiest, in
// each interval, both in percent.
func (t *trace) rates(cores int, l link) (seconds, cpu, network []float64) {
	n := 0
	for _, p := range t.processes {
		n = max(n, len(p))
	}
	for i := 1; i < n; i++ {
		var busy, most, width float64
		for _, p := range t.processes {
			if i >= len(p) {
				continue
			}
			width = p[i].at.Sub(p[i-1].at).Seconds()
			busy += (p[i].cpu - p[i-1].cpu).Seconds() / width
			most = max(most, 8*float64(p[i].sent-p[i-1].sent)/width/l.bits)
			if len(seconds) < i {
				seconds = append(seconds, p[i].at.Sub(t.start).Seconds())
			}
		}
		// Ticks that fall into the next interval make some more than whole.
		cpu = append(cpu, min(100*busy/float64(cores), 100))
		network = append(network, min(100*most, 100))
	}
	return seconds, cpu, network
}
