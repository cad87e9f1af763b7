package seriesbench

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/internal/progress"
	"weir/internal/seriesgen"
	"weir/series"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func small(t *testing.T) *Bench {
	return &Bench{Dir: t.TempDir(), Series: []int{7, 150}, Points: 3000, Threads: []int{1, 3}, Repetitions: 1}
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v left behind in %s", entries, err, dir)
	}
}

// What is written is what the generators make, whatever the numbers of threads, series and columns are.
func TestWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, rows := rapid.IntRange(1, 40).Draw(t, "series"), rapid.IntRange(1, 100).Draw(t, "rows")
		columns, threads := rapid.IntRange(1, 50).Draw(t, "columns"), rapid.IntRange(1, 5).Draw(t, "threads")
		kind := seriesgen.Kind(rapid.IntRange(0, int(seriesgen.Kinds)).Draw(t, "kind"))
		ctx := context.Background()
		d, err := makeData(ctx, mixedSet(), kind, n, rows, columns)
		if err != nil {
			t.Fatal(err)
		}
		b := Bench{}
		err = b.inFolder(func(dir string) error {
			return withStore(ctx, dir, true, func(st *series.Store) error {
				ids, err := nameAll(ctx, st, d)
				if err != nil {
					return err
				}
				if _, err := d.write(ctx, st, ids, threads, "test"); err != nil {
					return err
				}
				for i, id := range ids {
					if got, want := st.Names().Name(id), d.name(i); got != want {
						t.Fatalf("series %d is %q, expected %q", i, got, want)
					}
					times, values := make([]int64, rows+1), make([]float64, rows+1)
					points, err := st.Points(ctx, id, math.MinInt64, math.MaxInt64, false, nil)
					if err != nil {
						return err
					}
					k, err := points.Next(times, values)
					points.Close()
					if err != nil {
						return err
					}
					wantTimes, wantValues := make([]int64, rows), make([]float64, rows)
					d.generator(i%d.columns).Fill(wantTimes, wantValues)
					if !slices.Equal(times[:k], wantTimes) || !slices.Equal(values[:k], wantValues) {
						t.Fatalf("series %d has %v %v, expected %v %v", i, times[:k], values[:k], wantTimes, wantValues)
					}
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestIngest(t *testing.T) {
	b := small(t)
	runs, err := b.Ingest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 8 {
		t.Fatalf("%d runs, expected 8", len(runs))
	}
	for i, r := range runs {
		if want := b.Points / r.Series * r.Series; r.Points != want || r.Series != b.Series[i/4] || r.Log != (i%4 < 2) || r.Threads != b.Threads[i%2] {
			t.Errorf("run %d is %+v, with %d points expected", i, r, want)
		}
		if r.Seconds <= 0 || r.Close <= 0 || r.Bytes <= r.VolumeBytes || r.VolumeBytes <= 0 || r.VolumeWritten <= 0 {
			t.Errorf("%+v", r)
		}
		if least := int64(r.Points) * 8; r.Log && r.Written < least { // a log has times and values as they are, more or less
			t.Errorf("%d bytes were written with a log, expected at least %d", r.Written, least)
		}
		if r.Written < r.VolumeWritten || r.Amplification() < 0.9 {
			t.Errorf("%d bytes written, %d of them to volumes, which have %d", r.Written, r.VolumeWritten, r.VolumeBytes)
		}
	}
	var text bytes.Buffer
	if err := IngestTable(runs).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	chart, err := IngestChart(runs, "a test")
	if err != nil {
		t.Fatal(err)
	}
	if err := chart.WriteSVG(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"150 series, no log", "7 series, log", "a test"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the chart does not say %q", want)
		}
	}
	mustBeEmpty(t, b.Dir)
}

func TestLives(t *testing.T) {
	b := small(t)
	lives, err := b.Lives(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(lives) != 2 || LifeTable(lives).Len() != 2 {
		t.Fatalf("%+v", lives)
	}
	for _, l := range lives {
		if l.Points != b.Points/l.Series*l.Series || l.Name <= 0 || l.Write <= 0 || l.Close <= 0 || l.Start <= 0 || l.Bytes <= 0 {
			t.Errorf("%+v", l)
		}
	}
	mustBeEmpty(t, b.Dir)
}

func TestRecoveries(t *testing.T) {
	b := small(t)
	all, err := b.Recoveries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || RecoveryTable(all).Len() != 2 {
		t.Fatalf("%+v", all)
	}
	for _, r := range all {
		if r.Entries != r.Points || r.LogBytes <= 0 || r.Seconds <= 0 {
			t.Errorf("%+v, expected all points to be in the log", r)
		}
	}
	mustBeEmpty(t, b.Dir)
}

func TestReads(t *testing.T) {
	b := small(t)
	reads, err := b.Reads(t.Context(), 2000)
	if err != nil {
		t.Fatal(err)
	}
	if len(reads) != 12 || ReadTable(reads).Len() != len(reads) {
		t.Fatalf("%d readings, expected 12", len(reads))
	}
	walks := func(n int) int { return (n + int(seriesgen.Kinds) - 1) / int(seriesgen.Kinds) }
	for i, r := range reads {
		want := []int{1, r.Series, r.Points, r.Points / r.Series * walks(r.Series), r.Points / r.Series * walks(r.Series)}[i%5]
		if r.Series == 1 {
			want = []int{bins, 2000}[i-10]
		}
		if r.Answered != want || r.Seconds <= 0 {
			t.Errorf("%+v, expected %d rows or points", r, want)
		}
	}
	mustBeEmpty(t, b.Dir)
}

func TestSizes(t *testing.T) {
	b := small(t)
	sizes, err := b.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2*(int(seriesgen.Kinds)+1) || SizeTable(sizes).Len() != int(seriesgen.Kinds)+1 {
		t.Fatalf("%+v", sizes)
	}
	for i, z := range sizes {
		if z.Series != 7 || z.Points != 2996 || z.Bytes <= 0 || (z.Jitter == 0) != (i > int(seriesgen.Kinds)) {
			t.Errorf("%+v", z)
		}
	}
	mustBeEmpty(t, b.Dir)
}

// canceler ends a context as soon as a stage of a name begins.
type canceler struct {
	prefix string
	cancel context.CancelFunc
}

func (c canceler) Begin(s *progress.Stage) func() {
	if strings.HasPrefix(s.Name, c.prefix) {
		c.cancel()
	}
	return func() {}
}

// Whatever is interrupted leaves nothing behind.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		stage string
		do    func(ctx context.Context, b *Bench) error
	}{
		{"generate", func(ctx context.Context, b *Bench) error { _, err := b.Ingest(ctx); return err }},
		{"7 series", func(ctx context.Context, b *Bench) error { _, err := b.Ingest(ctx); return err }},
		{"memory", func(ctx context.Context, b *Bench) error { _, err := b.Lives(ctx); return err }},
		{"log", func(ctx context.Context, b *Bench) error { _, err := b.Recoveries(ctx); return err }},
		{"fill", func(ctx context.Context, b *Bench) error { _, err := b.Sizes(ctx); return err }},
		{"ask", func(ctx context.Context, b *Bench) error { _, err := b.Reads(ctx, 2000); return err }},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		b := small(t)
		b.Points = 100_000
		if err := c.do(progress.With(ctx, canceler{c.stage, cancel}), b); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, expected that it was canceled", c.stage, err)
		}
		cancel()
		mustBeEmpty(t, b.Dir)
	}
}

func TestCheck(t *testing.T) {
	good := Bench{Series: []int{10}, Points: 100, Threads: []int{1}, Repetitions: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Bench){
		"series: expected":     func(b *Bench) { b.Series = nil },
		"series: expected n":   func(b *Bench) { b.Series = []int{0} },
		"series: 10000001":     func(b *Bench) { b.Series = []int{10_000_001} },
		"threads: expected":    func(b *Bench) { b.Threads = nil },
		"threads: 11":          func(b *Bench) { b.Threads = []int{11} },
		"points: 9":            func(b *Bench) { b.Points = 9 },
		"points: 1000000001":   func(b *Bench) { b.Points = 1_000_000_001 },
		"repetitions: 0, expe": func(b *Bench) { b.Repetitions = 0 },
	} {
		b := good
		change(&b)
		if err := b.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
		if _, err := b.Ingest(t.Context()); err == nil {
			t.Errorf("%+v was measured", b)
		}
	}
}

func TestMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 9).Draw(t, "figures")
		m := median(all, func(x float64) float64 { return x })
		below, above := 0, 0
		for _, x := range all {
			if x < m {
				below++
			}
			if x > m {
				above++
			}
		}
		if below > len(all)/2 || above > len(all)/2 {
			t.Fatalf("%v is not the median of %v", m, all)
		}
	})
}
