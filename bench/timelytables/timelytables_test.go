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
	if len(os.Args) == 3 && (os.Args[1] == "measure" || os.Args[1] == "join") {
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
	args := []string{"--quick", "--for", "5ms", "--operators", "1,30", "--out", dir}
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
	for _, want := range []string{"not* measured in turns", "go run ./bench/timelytables --quick", "| others | used "} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	rows := cells(page)
	for _, want := range [][]string{
		{"1", "in a slice", "1"}, {"1", "in a slice", "2"}, {"1", "in a slice", "4"}, {"1", "in a slice", "2 processes × 1"},
		{"1,000", "one by one", "1"}, {"10,000", "in a slice", "2 processes × 1"}, // exchange
		{"1"}, {"2"}, {"4"}, {"2 processes × 1"}, // barrier and union-find
		{"an empty round through the chain", "1"}, {"an empty round through the chain", "30"},
		{"one record through the chain", "30"}, {"one record beside the chain, which is idle", "30"},
		{"10", "10"},                                                     // idle
		{"1,000", "1"}, {"10,000", "1"}, {"1,000", "2"}, {"10,000", "2"}, // open loop
	} {
		if !slices.ContainsFunc(rows, func(r []string) bool {
			return len(r) > len(want) && slices.Equal(r[:len(want)], want) && r[len(want)] != ""
		}) {
			t.Errorf("no row %q in\n%s", want, page)
		}
	}
	for _, title := range []string{"Exchange", "Barrier", "Operators that have nothing to do", "Union-find over a stream", "Latency at a fixed rate"} {
		if !strings.Contains(page, "\n## "+title+"\n") || !strings.Contains(stdout.String(), "\n"+title+"\n===") {
			t.Errorf("no section %q in the report or on the terminal", title)
		}
	}
	for _, name := range []string{"exchange", "progress", "latency"} {
		file := reportName + "-" + name + ".svg"
		checkSVG(t, filepath.Join(dir, file))
		if !strings.Contains(page, "]("+file+")") {
			t.Errorf("the report does not show %s", file)
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
		t.Fatal(err)
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

// TestPublished makes sure that what a figure was published of is measured by default.
func TestPublished(t *testing.T) {
	b := &bench{opt: options{length: time.Second, operators: []int{1}, idle: 100, vertices: rustVertices, edges: rustEdges, rates: []int{rustRate}, most: 1_000_000}}
	for _, plan := range []func(){func() { b.exchange() }, func() { b.barrier() }, func() { b.progress() }, func() { b.unionFind() }, func() { b.openLoop() }} {
		plan()
	}
	for key := range rust {
		if !slices.ContainsFunc(b.rows, func(r *row) bool { return r.key == key && r.rust > 0 }) {
			t.Errorf("a figure is published of %q, which is not measured", key)
		}
	}
	for key := range rustMemory {
		if rust[key] == 0 {
			t.Errorf("%q has a memory but no rate", key)
		}
	}
}

func TestOrders(t *testing.T) {
	if got := (order{Rounds: 4}).after(time.Millisecond, time.Second); got != (order{Rounds: 8}) {
		t.Errorf("after a short order comes %+v, expected twice as many rounds", got)
	}
	if got := (order{Rounds: 100}).after(500*time.Millisecond, time.Second); got != (order{Rounds: 200, Last: true}) {
		t.Errorf("after half the length comes %+v, expected 200 rounds, the last", got)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--for", "0s"}, {"--repetitions", "0"}, {"--operators", "0"}, {"--operators", "10,1"}, {"--rates", "0"}, {"--edges", "-1"}, {"file"},
		{"measure"}, {"measure", "nonsense"}, {"join", "{}", "{}"},
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
