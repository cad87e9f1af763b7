package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

// example is a program and what its output must be.
type example struct {
	name string
	// args are those of each process, behind the flags that say who the workers are.
	args func(process int) []string
	// check looks at the lines that all processes have printed.
	check func(t *testing.T, lines []string, workers, processes int)
}

var examples = []example{
	{"hello", fixed("-rounds", "10"), checkHello},
	{"exchange", fixed("-rounds", "20", "-records", "500"), checkExchange},
	{"wordcount", func(process int) []string { return texts[process : process+2] }, checkWordcount},
	{"collatz", fixed("-below", "300"), checkCollatz},
	{"bfs", fixed("-nodes", "300", "-edges", "900"), checkBfs},
	{"unionfind", fixed("-nodes", "200", "-edges", "230", "-epoch", "50"), checkUnionfind},
	{"hashjoin", fixed("-keys", "50", "-records", "300"), checkHashjoin},
	{"latency", fixed("-rate", "5000", "-for", "100ms"), checkLatency},
	{"barrier", fixed("-rounds", "200"), checkBarrier},
	{"livejoin", fixed(), checkLivejoin},
	{"risky", fixed("-customers", "60", "-transactions", "6"), checkRisky},
	{"q17", fixed("-parts", "20", "-lines", "2000", "-refreshes", "40"), checkQ17},
}

func fixed(args ...string) func(int) []string { return func(int) []string { return args } }

// TestExamples runs each example as one process of 1 to 3 workers, and as two processes of 1 or
// 2 that are connected over the loopback interface.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("to build all examples takes long")
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator), "./...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct{ threads, processes int }{{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}} {
				lines, err := run(t.Context(), filepath.Join(bin, e.name), c.threads, c.processes, e.args)
				if err != nil {
					t.Fatalf("%d processes of %d workers: %v", c.processes, c.threads, err)
				}
				e.check(t, lines, c.threads*c.processes, c.processes)
				if t.Failed() {
					t.Fatalf("%d processes of %d workers printed\n%s", c.processes, c.threads, strings.Join(lines, "\n"))
				}
			}
		})
	}
}

// run runs all processes of a program, and returns the lines that they print.
func run(ctx context.Context, program string, threads, processes int, args func(int) []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	hosts, err := freeAddresses(processes)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	outputs := make([]bytes.Buffer, processes)
	problems := make([]error, processes)
	for p := range processes {
		flags := []string{"-w", strconv.Itoa(threads), "-p", strconv.Itoa(p), "-h", strings.Join(hosts, ",")}
		cmd := exec.CommandContext(ctx, program, append(flags, args(p)...)...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &outputs[p], &said
		all.Go(func() {
			if err := cmd.Run(); err != nil {
				problems[p] = fmt.Errorf("process %d: %w\n%s", p, err, said.Bytes())
			}
		})
	}
	all.Wait()
	var lines []string
	for p := range outputs {
		lines = append(lines, slices.Collect(strings.Lines(outputs[p].String()))...)
	}
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\n")
	}
	return lines, errors.Join(problems...)
}

// freeAddresses finds ports that nobody listens on.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all are open at once, so that they are different
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// sameLines fails unless both are the same lines, in any order.
func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	if got, want := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Errorf("got %q\nexpected %q", got, want)
	}
}

// numbers finds the numbers of a line, which must match the pattern.
func numbers(t *testing.T, pattern, line string) []int {
	t.Helper()
	found := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(line)
	if found == nil {
		t.Errorf("%q is not as %q", line, pattern)
		return make([]int, strings.Count(pattern, "("))
	}
	var list []int
	for _, text := range found[1:] {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Error(err)
		}
		list = append(list, n)
	}
	return list
}

func checkHello(t *testing.T, lines []string, workers, _ int) {
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf("worker %d: hello %d", i%workers, i))
	}
	sameLines(t, lines, want)
}

func checkExchange(t *testing.T, lines []string, workers, _ int) {
	total := 0
	for _, line := range lines {
		total += numbers(t, `worker \d+: received (\d+) records, \d+ rounds/s, [\d.]+ M records/s`, line)[0]
	}
	if want := 20 * 500 * workers; total != want || len(lines) != workers {
		t.Errorf("%d workers received %d, expected %d", len(lines), total, want)
	}
}

// texts are the files whose words are counted: the first process gets the first two, the
// second the second and the third.
var texts = []string{"hello/main.go", "wordcount/main.go", "bfs/main.go"}

func checkWordcount(t *testing.T, lines []string, _, processes int) {
	counts := map[string]int{}
	for p := range processes {
		for _, name := range texts[p : p+2] {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
				counts[strings.ToLower(word)]++
			}
		}
	}
	var want []string
	for word, n := range counts {
		want = append(want, fmt.Sprintf("%d %s", n, word))
	}
	sameLines(t, lines, want)
}

func checkCollatz(t *testing.T, lines []string, _, _ int) {
	start, longest := 0, -1
	for n := 1; n < 300; n++ {
		steps := 0
		for x := n; x != 1; steps++ {
			if x%2 == 0 {
				x /= 2
			} else {
				x = 3*x + 1
			}
		}
		if steps > longest {
			start, longest = n, steps
		}
	}
	sameLines(t, lines, []string{fmt.Sprintf("%d takes %d steps", start, longest)})
}

func checkBfs(t *testing.T, lines []string, _, _ int) {
	ends := map[uint32][]uint32{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 900 {
		from, to := random.Uint32N(300), random.Uint32N(300)
		ends[from] = append(ends[from], to)
	}
	distance := map[uint32]int{0: 0}
	counts := map[int]int{0: 1}
	for queue := []uint32{0}; len(queue) > 0; queue = queue[1:] {
		for _, x := range ends[queue[0]] {
			if _, seen := distance[x]; !seen {
				distance[x] = distance[queue[0]] + 1
				counts[distance[x]]++
				queue = append(queue, x)
			}
		}
	}
	var want []string
	for _, d := range slices.Sorted(maps.Keys(counts)) {
		want = append(want, fmt.Sprintf("%d steps away: %d nodes", d, counts[d]))
	}
	if !slices.Equal(lines, want) {
		t.Errorf("expected %q", want)
	}
}

func checkUnionfind(t *testing.T, lines []string, _, _ int) {
	component := make([]uint32, 200)
	for i := range component {
		component[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(1, 1))
	var want []string
	for i := 1; i <= 230; i++ {
		a, b := component[random.Uint32N(200)], component[random.Uint32N(200)]
		for j := range component {
			if component[j] == a {
				component[j] = b
			}
		}
		if i%50 == 0 || i == 230 {
			want = append(want, fmt.Sprintf("%d edges: %d components", i, len(slices.Compact(slices.Sorted(slices.Values(component))))))
		}
	}
	if !slices.Equal(lines, want) {
		t.Errorf("expected %q", want)
	}
}

func checkHashjoin(t *testing.T, lines []string, workers, _ int) {
	type pair struct{ key, value uint64 }
	var sides [2][]pair
	for side := range sides {
		random := rand.New(rand.NewPCG(uint64(side)+1, 0))
		for range 300 {
			sides[side] = append(sides[side], pair{random.Uint64N(50), random.Uint64N(1 << 32)})
		}
	}
	var want, got [2]int
	for _, l := range sides[0] {
		for _, r := range sides[1] {
			if l.key == r.key {
				want[0]++
				want[1] += int(l.value ^ r.value)
			}
		}
	}
	for _, line := range lines {
		n := numbers(t, `worker \d+: (\d+) matches, sum (\d+)`, line)
		got[0] += n[0]
		got[1] += n[1]
	}
	if got != want || len(lines) != workers {
		t.Errorf("%d workers found %v, expected %v", len(lines), got, want)
	}
}

func checkLatency(t *testing.T, lines []string, workers, _ int) {
	total := 0
	for _, line := range lines {
		head, tail, _ := strings.Cut(line, " events, ")
		total += numbers(t, `worker \d+: (\d+)`, head)[0]
		last := time.Duration(0)
		for quantile := range strings.SplitSeq(tail, ", ") {
			_, text, _ := strings.Cut(quantile, "% in ")
			d, err := time.ParseDuration(text)
			if err != nil || d < last {
				t.Errorf("%q is less than before, or none at all: %v", quantile, err)
			}
			last = d
		}
	}
	if total != 500 || len(lines) != workers {
		t.Errorf("%d workers measured %d events, expected 500", len(lines), total)
	}
}

func checkBarrier(t *testing.T, lines []string, workers, _ int) {
	for _, line := range lines {
		if n := numbers(t, `worker \d+: (\d+) rounds, \d+ rounds/s`, line)[0]; n != 200 {
			t.Errorf("%d rounds", n)
		}
	}
	if len(lines) != workers {
		t.Errorf("%d workers", len(lines))
	}
}
