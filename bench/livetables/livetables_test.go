package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir/internal/program"
)

// TestMain lets the test be the processes that the program starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "measure" {
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// TestQuick measures everything for a moment, and looks for every row and plot.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	args := []string{"--quick", "--for", "5ms", "--batches", "1,100", "--out", dir}
	if code := execute(t.Context(), args, &stdout, &stderr); code != program.OK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, reportName+".md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, bad := range []string{"NaN", "Inf", "%!", dir} {
		if strings.Contains(page, bad) {
			t.Errorf("the report says %q", bad)
		}
	}
	for _, want := range []string{"not* measured in turns", "go run ./bench/livetables --quick", "| others | used "} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	rows := cells(page)
	for _, want := range [][]string{
		{"bfs", "10,000", "1"}, {"bfs", "10,000", "2"}, {"components", "10,000", "2"}, {"degrees", "10,000", "2"}, {"components", "20,000", "1"}, // loading
		{"1", "1", "0 to 10"}, {"1", "2", "0 to 10"}, // by what changed
		{"1", "1"}, {"1", "2"}, {"100", "1"}, {"100", "2"}, {"1,000", "1"}, {"1,000", "2"}, // changes at a time
	} {
		if !slices.ContainsFunc(rows, func(r []string) bool {
			return len(r) > len(want) && slices.Equal(r[:len(want)], want) && r[len(want)] != ""
		}) {
			t.Errorf("no row %q in\n%s", want, page)
		}
	}
	for _, title := range []string{
		"Loading, and the first answer", "Distances while the graph is re-wired", "Components while the graph is re-wired",
		"Degrees while the graph is re-wired", "Garbage collection",
	} {
		if !strings.Contains(page, "\n## "+title+"\n") || !strings.Contains(stdout.String(), "\n"+title+"\n===") {
			t.Errorf("no section %q in the report or on the terminal", title)
		}
	}
	for _, name := range []string{"bfs", "components"} {
		file := reportName + "-" + name + ".svg"
		checkSVG(t, filepath.Join(dir, file))
		if !strings.Contains(page, "]("+file+")") {
			t.Errorf("the report does not show %s", file)
		}
	}
}

// TestSoak has a small graph changed for a moment. That may be too short to be steady, and says so then.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	args := []string{"--quick", "--soak", "2s", "--sample", "100ms", "--soak-workers", "2", "--out", dir}
	if code := execute(t.Context(), args, &stdout, &stderr); code != program.OK && !strings.Contains(stderr.String(), "the soak is not steady") {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, soakName+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 21 {
		t.Errorf("%d lines of samples, expected a heading and 20:\n%s", len(lines), text)
	}
	for _, line := range lines {
		if n := len(strings.Split(line, ",")); n != len(sampleColumns) {
			t.Errorf("line %q has %d columns, expected %d", line, n, len(sampleColumns))
		}
	}
	for _, name := range []string{"memory", "latency"} {
		checkSVG(t, filepath.Join(dir, soakName+"-"+name+".svg"))
	}
	page, err := os.ReadFile(filepath.Join(dir, soakName+".md"))
	if err != nil || !strings.Contains(string(page), "| last |") {
		t.Errorf("%v; the page has no last quarter:\n%s", err, page)
	}
}

func TestVerdict(t *testing.T) {
	make16 := func(change func(i int, s *sample)) []sample {
		list := make([]sample, 16)
		for i := range list {
			list[i].resident, list[i].state.Bytes = 1000, 500
			list[i].latencies.Add(time.Millisecond)
			change(i, &list[i])
		}
		return list
	}
	for _, c := range []struct {
		name   string
		wrong  string
		change func(i int, s *sample)
	}{
		{"steady", "", func(int, *sample) {}},
		{"the first quarter does not count", "", func(i int, s *sample) {
			if i < 4 {
				s.resident, s.state.Bytes = 10, 10
			}
		}},
		{"a tenth more", "", func(i int, s *sample) {
			if i >= 12 {
				s.resident = 1100
			}
		}},
		{"memory grows", "resident memory", func(i int, s *sample) { s.resident += uint64(i) * 20 }},
		{"state grows", "state", func(i int, s *sample) { s.state.Bytes += i * 20 }},
		{"latencies grow", "median latency", func(i int, s *sample) {
			s.latencies.Reset()
			s.latencies.Add(time.Duration(i) * time.Millisecond)
		}},
		{"some are slow", "", func(i int, s *sample) {
			if i >= 14 {
				s.latencies.Reset()
				s.latencies.Add(time.Second)
			}
		}},
	} {
		found, err := verdict(make16(c.change))
		if len(found) != 3 {
			t.Errorf("%s: found %q, expected three things", c.name, found)
		}
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), c.wrong)):
			t.Errorf("%s: the problem is %v, expected the %s", c.name, err, c.wrong)
		}
	}
}

// TestWrongAnswer makes sure that a wrong answer would be noticed.
func TestWrongAnswer(t *testing.T) {
	for name := range questions {
		k := task{Question: name, Vertices: 100, Edges: 100}
		right := questions[name].naive(k.graph(), 17)
		if err := k.check(right, 17); err != nil {
			t.Error(err)
		}
		if err := k.check(right+1, 17); err == nil || questions[name].naive(k.graph(), 117) == right {
			t.Errorf("%s: a wrong answer passes", name)
		}
	}
}

// TestEdges makes sure that all vertices occur in a graph, and none beyond.
func TestEdges(t *testing.T) {
	g := graph{vertices: 10, edges: 200}
	from, to := map[uint32]bool{}, map[uint32]bool{}
	for n := range g.edges {
		e := g.edge(n)
		from[e.Key], to[e.Value] = true, true
	}
	for v := range g.vertices {
		if !from[v] || !to[v] {
			t.Errorf("vertex %d has no edge in one of the directions", v)
		}
	}
	if len(from) != 10 || len(to) != 10 {
		t.Errorf("%d sources and %d targets of 10 vertices", len(from), len(to))
	}
}

// TestPublished makes sure that what a figure was published of is measured by default.
func TestPublished(t *testing.T) {
	b := &bench{opt: options{vertices: rustVertices, edges: rustEdges, large: 1, batches: []int{1, 10, 1000}}}
	b.plan()
	for key := range rustLoad {
		if !slices.ContainsFunc(b.rows, func(r *row) bool { return r.task.comparable() && r.task.loadKey() == key }) {
			t.Errorf("a figure is published of loading %q, which is not measured", key)
		}
	}
	measured := func(key string) bool {
		return slices.ContainsFunc(b.rows, func(r *row) bool {
			return r.task.comparable() && slices.ContainsFunc(r.task.Batches, func(n int) bool { return r.task.batchKey(n) == key })
		})
	}
	for key := range rustLatencies {
		if !measured(key) {
			t.Errorf("latencies are published of %q, which is not measured", key)
		}
	}
	for key := range rustRates {
		if !measured(key) {
			t.Errorf("a rate is published of %q, which is not measured", key)
		}
	}
}

// cells are those of all tables of a page, by row.
func cells(page string) [][]string {
	var all [][]string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		all = append(all, row)
	}
	return all
}

func checkSVG(t *testing.T, path string) {
	t.Helper()
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--for", "0s"}, {"--batches", "0"}, {"--edges", "-1"}, {"--large", "0"}, {"file"}, {"--soak", "5s"}, {"--soak", "-1s"}, {"--soak-workers", "0"},
		{"measure"}, {"measure", "nonsense"}, {"measure", `{"Question":"why","Workers":1}`},
	} {
		want := program.Usage
		if len(args) == 2 && args[0] == "measure" {
			want = program.Failed
		}
		if code := execute(t.Context(), args, io.Discard, io.Discard); code != want {
			t.Errorf("%v: exit code %d, want %d", args, code, want)
		}
	}
}
