package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/graph/names"
	"weir/graph/order"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("EXTSORT_TEST_CRASH"); dir != "" {
		crash(dir)
	}
	goleak.VerifyTestMain(m)
}

type edge struct {
	key    uint64
	weight float32
}

func compareEdges(a, b edge) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.weight, b.weight))
}

// form is the model's form of a packed edge.
func form(o Order, e uint64) uint64 {
	switch o {
	case ByTarget:
		return bits.RotateLeft64(e, 32)
	case AlongCurve:
		return order.Position(uint32(e>>32), uint32(e))
	}
	return e
}

func TestSort(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		opt := Options{
			Order:    Order(rapid.IntRange(0, 2).Draw(t, "order")),
			Weighted: rapid.Bool().Draw(t, "weighted"),
			Dedup:    rapid.Bool().Draw(t, "dedup"),
			Threads:  rapid.IntRange(1, 3).Draw(t, "threads"),
			Dir:      dir,
		}
		s, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.layout = layout{
			fill:  rapid.SampledFrom([]int{300, 1000, 5000}).Draw(t, "fill"),
			block: rapid.SampledFrom([]int{1, 10, 128, 200}).Draw(t, "block"),
			fan:   rapid.IntRange(2, 5).Draw(t, "fan"),
		}
		ids := rapid.SampledFrom([]uint32{1, 10, 1000, 1 << 31}).Draw(t, "ids")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		sorted := rapid.Bool().Draw(t, "sorted")
		ctx := context.Background()

		type chunk struct {
			edges   []uint64
			weights []float32
			raw     bool
		}
		var chunks []chunk
		set := names.NewSet()
		for range rapid.IntRange(0, 12).Draw(t, "chunks") {
			c := chunk{raw: opt.Order != AlongCurve && rng.IntN(2) == 0}
			for range rng.IntN(1500) {
				e := order.Pack(rng.Uint32N(ids), rng.Uint32N(ids))
				if c.raw {
					set.Add(uint32(e >> 32))
					set.Add(uint32(e))
				}
				c.edges = append(c.edges, e)
				c.weights = append(c.weights, float32(rng.IntN(5)))
			}
			if sorted {
				slices.Sort(c.edges)
			}
			chunks = append(chunks, c)
		}
		rank := set.Rank()
		var want []edge
		var stats order.Stats
		for _, c := range chunks {
			weights := c.weights
			if !opt.Weighted {
				weights = nil
			}
			if err := s.Add(ctx, c.edges, weights, c.raw); err != nil {
				t.Fatal(err)
			}
			final := slices.Clone(c.edges)
			if c.raw {
				rank.Apply(final)
			}
			for i, e := range final {
				want = append(want, edge{key: form(opt.Order, e)})
				if opt.Weighted {
					want[len(want)-1].weight = c.weights[i]
				}
				if e>>32 == e&(1<<32-1) {
					stats.SelfLoops++
				}
			}
		}
		slices.SortFunc(want, compareEdges)
		unique := slices.CompactFunc(slices.Clone(want), func(a, b edge) bool { return a.key == b.key })
		stats.Duplicates = int64(len(want) - len(unique))
		if opt.Dedup {
			want = unique
		}
		stats.Edges = int64(len(want))

		var got []edge
		gotStats, err := s.Merge(ctx, rank, func(keys []uint64, weights []float32) error {
			if len(keys) == 0 || opt.Weighted != (weights != nil) || weights != nil && len(weights) != len(keys) {
				t.Fatalf("%d keys with %d weights", len(keys), len(weights))
			}
			for i, k := range keys {
				e := edge{key: k}
				if opt.Weighted {
					e.weight = weights[i]
				}
				if len(got) > 0 && got[len(got)-1].key > k {
					t.Fatalf("key %#x after %#x", k, got[len(got)-1].key)
				}
				got = append(got, e)
			}
			clear(keys) // the slices are ours
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, compareEdges)
		if !slices.Equal(got, want) {
			t.Fatalf("%d edges from %d runs are not the %d expected", len(got), s.Runs(), len(want))
		}
		if gotStats != stats {
			t.Fatalf("stats are %+v, expected %+v", gotStats, stats)
		}
		checkEmpty(t, dir)
		if err := s.Add(ctx, nil, nil, false); err == nil {
			t.Fatal("a merged sorter takes edges")
		}
	})
}

func checkEmpty(t interface{ Fatalf(string, ...any) }, dir string) {
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("%v is left, error %v", left, err)
	}
}

// random is n packed edges.
func random(n int) []uint64 {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	edges := make([]uint64, n)
	for i := range edges {
		edges[i] = rng.Uint64()
	}
	return edges
}

// TestSmallestBudget sorts in the smallest budget, and counts what is in use.
func TestSmallestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts a million edges")
	}
	dir := t.TempDir()
	s, err := New(Options{Dir: dir, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	edges := random(1 << 20)
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := inUse(), int64(0)
	for part := range slices.Chunk(edges, 1<<12) {
		if err := s.Add(context.Background(), part, nil, false); err != nil {
			t.Fatal(err)
		}
		most = max(most, inUse()-before)
	}
	count := 0
	_, err = s.Merge(context.Background(), nil, func(keys []uint64, _ []float32) error {
		count += len(keys)
		most = max(most, inUse()-before)
		return nil
	})
	if err != nil || count != len(edges) {
		t.Fatalf("%d edges of %d, error %v", count, len(edges), err)
	}
	if s.Runs() < 10 {
		t.Fatalf("%d runs, expected more", s.Runs())
	}
	// Some of the test's own and of the runtime's bookkeeping comes on top.
	if most > MinMemory+MinMemory/4 {
		t.Fatalf("%d bytes in use at most, expected at most %d", most, MinMemory)
	}
}

// fillRuns makes a sorter with several runs on disk.
func fillRuns(t testing.TB, dir string) *Sorter {
	s, err := New(Options{Dir: dir, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	s.layout = layout{fill: 1000, block: 128, fan: 4}
	if err := s.Add(context.Background(), random(10_500), nil, false); err != nil {
		t.Fatal(err)
	}
	return s
}

func drop([]uint64, []float32) error { return nil }

func TestDamagedRun(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"magic":     func(b []byte) []byte { b[3] = 0; return b },
		"truncated": func(b []byte) []byte { return b[:len(b)-1] },
		"empty":     func(b []byte) []byte { return nil },
		"cut":       func(b []byte) []byte { return b[:8] },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := fillRuns(t, dir)
			if err := s.settle(); err != nil {
				t.Fatal(err)
			}
			path := s.runs[3].path
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = s.Merge(context.Background(), nil, drop)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("error is %v, expected one about %s", err, path)
			}
			checkEmpty(t, dir)
		})
	}
}

// fullDisk fails after some bytes.
type fullDisk struct {
	io.WriteCloser
	left int
}

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "run", Err: syscall.ENOSPC}
	}
	return f.WriteCloser.Write(b)
}

func TestFullDisk(t *testing.T) {
	for _, cascade := range []bool{false, true} {
		dir := t.TempDir()
		var s *Sorter
		var err error
		limit := func(s *Sorter, bytes int) {
			create := s.create
			s.create = func(path string) (io.WriteCloser, error) {
				f, err := create(path)
				return &fullDisk{WriteCloser: f, left: bytes}, err
			}
		}
		if cascade {
			s = fillRuns(t, dir)
			if err = s.settle(); err != nil {
				t.Fatal(err)
			}
			limit(s, 100)
		} else {
			if s, err = New(Options{Dir: dir}); err != nil {
				t.Fatal(err)
			}
			s.layout = layout{fill: 1000, block: 128, fan: 4}
			limit(s, 2000)
			err = s.Add(context.Background(), random(5000), nil, false)
		}
		if err == nil {
			_, err = s.Merge(context.Background(), nil, drop)
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), TempPrefix) {
			t.Fatalf("error is %v, expected one of a full disk", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		checkEmpty(t, dir)
	}
}

func TestStops(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	s := fillRuns(t, dir)
	calls := 0
	_, err := s.Merge(ctx, nil, func([]uint64, []float32) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("after %d batches the error is %v, expected %v", calls, err, context.Canceled)
	}
	checkEmpty(t, dir)

	s = fillRuns(t, dir)
	if err := s.Add(ctx, random(5000), nil, false); !errors.Is(err, context.Canceled) {
		t.Fatalf("Add: error is %v, expected %v", err, context.Canceled)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, dir)

	s = fillRuns(t, dir)
	mine := errors.New("mine")
	if _, err := s.Merge(context.Background(), nil, func([]uint64, []float32) error { return mine }); !errors.Is(err, mine) {
		t.Fatalf("error is %v, expected that of emit", err)
	}
	checkEmpty(t, dir)
}

func TestRefuses(t *testing.T) {
	if _, err := New(Options{Memory: MinMemory - 1}); err == nil {
		t.Fatal("too little memory is accepted")
	}
	if _, err := New(Options{Order: 3}); err == nil {
		t.Fatal("an unknown order is accepted")
	}
	ctx := context.Background()
	for _, c := range []struct {
		name     string
		opt      Options
		weights  []float32
		renumber bool
		want     string
	}{
		{"no weights", Options{Weighted: true}, nil, false, "0 weights, expected 1"},
		{"weights", Options{}, []float32{1}, false, "weights, expected none"},
		{"curve", Options{Order: AlongCurve}, nil, true, "no place on the curve"},
	} {
		s, err := New(c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(ctx, []uint64{1}, c.weights, c.renumber); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Fatalf("%s: error is %v, expected %q", c.name, err, c.want)
		}
	}
	s, err := New(Options{Dir: filepath.Join(t.TempDir(), "missing")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.layout.fill = 10
	if err := s.Add(ctx, random(100), nil, false); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("error is %v, expected %v", err, os.ErrNotExist)
	}
}

// crash fills a few runs and waits to be killed.
func crash(dir string) {
	s, err := New(Options{Dir: dir})
	if err == nil {
		err = s.Add(context.Background(), random(1<<18), nil, false)
	}
	if err == nil {
		err = s.settle()
	}
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("ready\n")
	select {}
}

// TestCrash kills a process that sorts: what it leaves has a name to know it by,
// and does not trouble another sorter.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EXTSORT_TEST_CRASH="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("the other process says %q, error %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	left, err := filepath.Glob(filepath.Join(dir, TempPrefix+"*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("%v is left, error %v, expected one directory", left, err)
	}
	if runs, err := os.ReadDir(left[0]); err != nil || len(runs) == 0 {
		t.Fatalf("%s holds %v, error %v", left[0], runs, err)
	}
	s := fillRuns(t, dir)
	if _, err := s.Merge(context.Background(), nil, drop); err != nil {
		t.Fatal(err)
	}
	if again, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || !slices.Equal(again, left) {
		t.Fatalf("%v is left, error %v, expected %v", again, err, left)
	}
}

// FuzzRun reads whatever bytes as a run.
func FuzzRun(f *testing.F) {
	keys := random(300)
	slices.Sort(keys)
	block := encodeBlock(nil, keys[:128], make([]float32, 128), 128)
	f.Add(append([]byte(runMagic), block...), uint16(128), true)
	f.Add(append([]byte(runMagic), encodeBlock(nil, keys[:100], nil, 128)...), uint16(100), false)
	f.Fuzz(func(t *testing.T, data []byte, edges uint16, weighted bool) {
		r := &runReader{
			run: &run{path: "fuzz"}, file: os.Stdin, in: bufio.NewReader(bytes.NewReader(data)),
			block: 128, left: int64(edges), keys: make([]uint64, 256),
		}
		if weighted {
			r.weights = make([]float32, 256)
		}
		scratch := make([]byte, blockBytes(128, weighted))
		for r.left > 0 {
			if err := r.load(scratch); err != nil {
				return
			}
			if r.hi-r.lo < 128 && r.left > 0 {
				t.Fatalf("%d edges loaded, %d left", r.hi-r.lo, r.left)
			}
			r.lo = r.hi
		}
	})
}

func BenchmarkSort(b *testing.B) {
	for _, name := range []string{"memory", "runs=10", "runs=100"} {
		b.Run(name, func(b *testing.B) {
			edges := random(1 << 22)
			for i, e := range edges {
				edges[i] = e & (1<<22 - 1 | (1<<22-1)<<32) // as many vertices
			}
			for b.Loop() {
				s, err := New(Options{Dir: b.TempDir(), Memory: 256 << 20})
				if err != nil {
					b.Fatal(err)
				}
				switch name {
				case "runs=10":
					s.layout.fill = len(edges) / 10
				case "runs=100":
					s.layout.fill = len(edges) / 100
				}
				for part := range slices.Chunk(edges, 1<<14) {
					if err := s.Add(context.Background(), part, nil, false); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.Merge(context.Background(), nil, drop); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(edges)), "ns/edge")
		})
	}
}

// BenchmarkBlock compares blocks with keys as they are, of 8 bytes: what a disk
// saves must be worth the time.
func BenchmarkBlock(b *testing.B) {
	keys := random(1 << 16)
	slices.Sort(keys)
	for i, k := range keys {
		keys[i] = k >> (64 - 16 - 21) // a run of ten million edges between four million vertices
	}
	block := 2048
	var data []byte
	b.Run("encode", func(b *testing.B) {
		slot := []byte(nil)
		for b.Loop() {
			data = data[:0]
			for part := range slices.Chunk(keys, block) {
				slot = encodeBlock(slot[:0], part, nil, block)
				data = append(data, slot...)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/edge")
		b.ReportMetric(float64(len(data))/float64(len(keys)), "bytes/edge")
	})
	b.Run("decode", func(b *testing.B) {
		scratch := make([]byte, blockBytes(block, false))
		r := &runReader{block: block, keys: make([]uint64, block)}
		for b.Loop() {
			r.left, r.in = int64(len(keys)), bufio.NewReader(bytes.NewReader(data))
			for ; r.left > 0; r.left -= int64(block) {
				if _, err := r.readBlock(scratch); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/edge")
	})
}
