package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir/internal/program"
	"weir/internal/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestShort runs it all on small graphs, where the machine lets it.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	dir := t.TempDir()
	cmd := exec.Command("bash", "run.sh", "--short", "--out", dir, "--cache", filepath.Join(dir, "cache"))
	cmd.Env = append(os.Environ(), "LIMIT=5m")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run.sh: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "pagerank-net: skipped: ") {
		t.Skipf("%s", out)
	}
	checkReport(t, dir)
	names, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	if prefix := fmt.Sprintf("weir%d-", cmd.Process.Pid); strings.Contains(string(names), prefix) {
		t.Errorf("namespaces are left: %s", names)
	}
}

// checkReport looks at a report and its plots.
func checkReport(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, reportName+".md"))
	if err != nil {
		t.Fatal(err)
	}
	report := string(text)
	for _, bad := range []string{"NaN", "Inf", "%!", dir} {
		if strings.Contains(report, bad) {
			t.Errorf("the report says %q", bad)
		}
	}
	for _, want := range []string{
		"## Shuffled: times", "## Local: times", "| 16×8 ", "19.3 s (750 ms)", "| 2×2 ", "## What was published, and what holds here",
		"## Local: use over time", "2.36×", "1.36×",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	plots, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if len(plots) != 10 {
		t.Errorf("%d plots, want 10", len(plots))
	}
	for _, path := range plots {
		if !strings.Contains(report, "]("+filepath.Base(path)+")") {
			t.Errorf("the report does not show %s", path)
		}
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
	}
}

// madeUp is a bench whose measurements are made up: an iteration takes 1 s computing, and what its
// bytes take on the link.
func madeUp(out string) *bench {
	b := &bench{
		opt: options{out: out, hosts: []int{1, 2, 4}, workers: 2, iterations: 20, repetitions: 3}, stdout: io.Discard,
		machine: report.Machine{Processor: "made up", Cores: 2, Command: "none", Commit: "none", Date: "never"}, measured: map[string]float64{"1G": 1e9, "10G": 1e10},
	}
	for _, p := range []published{twitter, uk} {
		g := &subject{name: map[string]string{"twitter_rv": "shuffled"}[p.graph], published: p, cells: map[cell]*timing{}, traces: map[string]traced{}}
		if g.name == "" {
			g.name = "local"
		}
		bytes := map[string]float64{"none": 10e9, "worker": 1e9, "process": 0.5e9}
		for _, n := range b.opt.hosts {
			for _, v := range variants {
				seconds := 1.0
				if n > 1 {
					seconds += 8 * bytes[v.aggregate] / v.link.bits
				}
				g.cells[cell{v.name, n}] = &timing{totals: []float64{20 * seconds}, iterations: []float64{seconds}}
				g.traces[v.name] = traced{hosts: 4, seconds: []float64{0, 0.1, 0.2}, cpu: []float64{0, 90, 50}, network: []float64{0, 0, 80}}
			}
			if n > 1 {
				for a, x := range bytes {
					g.sends = append(g.sends, sending{hosts: n, aggregate: a, updates: x, wire: x, bound: bytes["process"], mostBits: 8 * bytes["process"]})
				}
			}
		}
		b.subjects = append(b.subjects, g)
	}
	return b
}

func TestReport(t *testing.T) {
	dir := t.TempDir()
	b := madeUp(dir)
	if err := b.report(); err != nil {
		t.Fatal(err)
	}
	checkReport(t, dir)
}

func TestConclusions(t *testing.T) {
	want := []string{
		"**Holds.** yes: shuffled, 2×2 (2.78×)", "**Holds.** yes: shuffled, 2×2 (1.78×)",
		// At 10G the bytes take 0.8 s of 1.8 s.
		"**Holds.** yes: shuffled, 2×2 (1.12×)", "**Holds.**", "**Holds.**", "**Does not hold.**", "**Does not hold.**", "**Holds.**", "**Holds.** yes: shuffled, 4×2 (2.00×)",
	}
	all := madeUp("").conclusions()
	if len(all) != len(want) {
		t.Fatalf("%d conclusions, want %d", len(all), len(want))
	}
	for i, c := range all {
		if got := c.verdict(); !strings.HasPrefix(got, want[i]) {
			t.Errorf("%s: %s\nwant %s…", c.claim, got, want[i])
		}
	}
	c := conclusion{holds: []finding{{"a", 2}, {"b", 1}, {"c", 0.5}}}
	if got, want := c.verdict(), "**Holds in part.** yes: a (2.00×); no: c (0.500×); no difference: b (1.00×)."; got != want {
		t.Errorf("verdict %q, want %q", got, want)
	}
	c.holds = []finding{{"a", 1.01}}
	if got, want := c.verdict(), "**Makes no difference.** no difference: a (1.01×)."; got != want {
		t.Errorf("verdict %q, want %q", got, want)
	}
}

func TestProcFiles(t *testing.T) {
	name, cpu, err := parseStat([]byte("12 (a (b) c) S 1 1 1 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0\n"))
	if err != nil || name != "a (b) c" || cpu != 2*time.Second {
		t.Errorf("program %q, %v, %v; want a (b) c, 2s", name, cpu, err)
	}
	sent, received, err := parseDev([]byte("Inter-| Receive\n face |bytes\n    lo: 5 0 0 0 0 0 0 0 5 0\n  eth0: 70 1 0 0 0 0 0 0 90 1 0 0 0 0 0 0\n"))
	if err != nil || sent != 90 || received != 70 {
		t.Errorf("%d sent, %d received, %v; want 90, 70", sent, received, err)
	}
	for _, bad := range []string{"", "12 (weir", "12 (weir) S 1 2", "1 (w) S 1 1 1 0 -1 4 1 2 3 4 x 50 0", ")("} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("stat %q is accepted", bad)
		}
	}
	for _, bad := range []string{"", "eth0: 1 2 3", "eth0: x 1 1 1 1 1 1 1 1"} {
		if _, _, err := parseDev([]byte(bad)); err == nil {
			t.Errorf("interfaces %q are accepted", bad)
		}
	}
}

func TestRates(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(0, int64(s*1e9)) }
	tr := &trace{start: at(0), processes: [][]usage{
		{{at(0), 0, 0, 0}, {at(1), time.Second, 1000, 0}, {at(2), 2 * time.Second, 1000, 0}},
		{{at(0), 0, 0, 0}, {at(1), time.Second, 500, 0}}, // it ends
	}}
	seconds, cpu, network := tr.rates(2, link{bits: 16000})
	if got, want := fmt.Sprint(seconds, cpu, network), "[1 2] [100 50] [50 0]"; got != want {
		t.Errorf("rates %s, want %s", got, want)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--hosts", "2,3"}, {"--hosts", "1"}, {"--hosts", "1,1"}, {"--iterations", "1"}, {"--workers", "0"}, {"file"}} {
		if code := execute(t.Context(), args, io.Discard, io.Discard); code != program.Usage {
			t.Errorf("%v: exit code %d, want %d", args, code, program.Usage)
		}
	}
	if got, want := commandLine([]string{"--prefix", "weir7", "--weir", "bin/weir", "--scale", "22", "--out=/a/b", "/a/c"}), "bench/pagerank-net/run.sh --scale 22 --out=b c"; got != want {
		t.Errorf("command line %q, want %q", got, want)
	}
}
