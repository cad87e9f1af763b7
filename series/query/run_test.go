package query

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"weir/series/aggregate"
	"weir/series/names"
)

// regular is some series with points every step.
func regular(series, points int, step int64) *memory {
	m := newMemory()
	for s := range series {
		p := make([]point, points)
		for i := range p {
			p[i] = point{time: int64(i) * step, value: float64((s*31+i*7919)%10000) / 100}
		}
		m.add("cpu dc=east host=web-"+strconv.Itoa(s), p...)
	}
	return m
}

func everything(kind Kind, order Order) *Query {
	return &Query{Kind: kind, Metrics: []string{"cpu"}, From: math.MinInt64, To: math.MaxInt64, Order: order}
}

// count reads an answer by time to its end.
func count(t *testing.T, answer *Rows) int {
	t.Helper()
	last, rows := int64(math.MinInt64), 0
	for r, err := range answer.All() {
		if err != nil {
			t.Fatal(err)
		}
		if answer.q.Order == ByTime && r.Time < last {
			t.Fatalf("%d comes behind %d", r.Time, last)
		}
		last = r.Time
		rows++
	}
	return rows
}

func TestMemoryLimit(t *testing.T) {
	m := regular(100, 2000, 1)
	answer, err := Run(context.Background(), m, everything(Select, ByTime), Options{Memory: 8_000})
	if err == nil {
		_, err = answer.WriteTo(io.Discard)
		answer.Close()
	}
	var limit *MemoryError
	if !errors.As(err, &limit) || limit.Limit != 8_000 {
		t.Fatalf("got %v, want an error of memory", err)
	}
	// Series by series it fits, and by time where there is room for some rows of each series.
	for order, memory := range map[Order]int64{BySeries: 8_000, ByTime: 100_000} {
		answer, err = Run(context.Background(), m, everything(Select, order), Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if rows := count(t, answer); rows != 100*2000 {
			t.Fatalf("%d rows", rows)
		}
	}
	m.open.Wait()
}

// TestBadArguments has queries that Parse does not make.
func TestBadArguments(t *testing.T) {
	for _, q := range []*Query{
		{Kind: 99, Metrics: []string{"cpu"}},
		{Kind: Aggregate, Metrics: []string{"cpu"}, Functions: []Function{99}},
		{Kind: Aggregate, Metrics: []string{"cpu"}},
		{Kind: GroupAggregate, Metrics: []string{"cpu"}, Step: 1},
		{Kind: Join},
		{Kind: Join, Metrics: make([]string, 65)},
	} {
		if _, err := Run(context.Background(), newMemory(), q, Options{}); err != ErrBadArgument {
			t.Errorf("%+v: got %v", q, err)
		}
	}
	answer, err := Run(context.Background(), regular(2, 2, 1), everything(Select, BySeries), Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	if rows := count(t, answer); rows != 4 {
		t.Errorf("%d rows", rows)
	}
}

// TestManySeries has 256 bytes for each series, as by default a million of them have.
func TestManySeries(t *testing.T) {
	const series = 20_000
	m := regular(series, 3, 1e10)
	answer, err := Run(context.Background(), m, everything(Select, ByTime), Options{Memory: 256 * series})
	if err != nil {
		t.Fatal(err)
	}
	if rows := count(t, answer); rows != 3*series {
		t.Fatalf("%d rows", rows)
	}
}

// opening counts how often series are read.
type opening struct {
	*memory
	opened atomic.Int64
}

func (o *opening) Points(ctx context.Context, id names.ID, from, to int64, backward bool, keep *aggregate.Bounds) (Points, error) {
	o.opened.Add(1)
	return o.memory.Points(ctx, id, from, to, backward, keep)
}

// TestWindowsAreFull has points in a small part of the range, and memory for a window of a third of them: four windows
// that are nearly full, the rest, and a look at what is behind it; one more for the first one, which is cut before it is known
// that one series is unlike the others.
func TestWindowsAreFull(t *testing.T) {
	const series, points = 500, 100
	m := newMemory()
	for s := range series {
		p := make([]point, points)
		for i := range p {
			p[i] = point{time: 1_483_228_800e9 + int64(i)*1e10 + int64(s*7919%1000), value: 1}
		}
		m.add("cpu host=web-"+strconv.Itoa(s), p...)
	}
	// The first series is as large as a window.
	for i := range series * points / 3 {
		m.points[0] = append(m.points[0], point{time: 1_483_228_801e9 + int64(i)*5e7, value: 2})
	}
	slices.SortStableFunc(m.points[0], func(a, b point) int { return cmp.Compare(a.time, b.time) })
	for _, backward := range []bool{false, true} {
		o := &opening{memory: m}
		q := everything(Select, ByTime)
		q.Backward = backward
		answer, err := Run(context.Background(), o, q, Options{Workers: 1, sizes: &sizes{batch: 256, window: series * points / 3}})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, err := range answer.All() {
			if err != nil {
				t.Fatal(err)
			}
			rows++
		}
		if rows != series*points*4/3 {
			t.Fatalf("%d rows", rows)
		}
		if got := o.opened.Load(); got > 7*series {
			t.Errorf("backward %v: series were read %d times, want no more than %d", backward, got, 7*series)
		}
	}
	m.open.Wait()
}

// TestWindowsGiveMemoryBack reads more than may be held at once.
func TestWindowsGiveMemoryBack(t *testing.T) {
	m := regular(50, 5000, 10)
	answer, err := Run(context.Background(), m, everything(Select, ByTime), Options{Memory: 1 << 20, Workers: 2, sizes: &sizes{batch: 256, window: 4096, piece: 64}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := count(t, answer); rows != 50*5000 {
		t.Fatalf("%d rows", rows)
	}
	if left := answer.r.memory.used.Load(); left > 100_000 {
		t.Fatalf("%d bytes are still counted", left)
	}
}

func TestCancel(t *testing.T) {
	m := regular(20, 20_000, 1)
	for _, order := range []Order{ByTime, BySeries} {
		ctx, cancel := context.WithCancel(context.Background())
		answer, err := Run(ctx, m, everything(Select, order), Options{Workers: 3, sizes: &sizes{batch: 16, window: 1024, piece: 16}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Next(); err != nil {
			t.Fatal(err)
		}
		cancel()
		for err == nil {
			_, err = answer.Next()
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		answer.Close()
	}
	// Closed before the end.
	answer, err := Run(context.Background(), m, everything(Select, ByTime), Options{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	answer.Close()
	if _, err := answer.Next(); err != io.EOF {
		t.Fatalf("got %v", err)
	}
	m.open.Wait()
}

func BenchmarkSelectCSV(b *testing.B) {
	for _, c := range []struct {
		name           string
		series, points int
		order          Order
	}{
		{"one series", 1, 1_000_000, BySeries},
		{"100 by series", 100, 10_000, BySeries},
		{"2 by time", 2, 500_000, ByTime},
		{"100 by time", 100, 10_000, ByTime},
		{"1000 by time", 1000, 1000, ByTime},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := regular(c.series, c.points, 1e10)
			fast := &columnar{memory: m}
			q := everything(Select, c.order)
			q.Output.Format = 1
			for b.Loop() {
				answer, err := Run(context.Background(), fast, q, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := answer.WriteTo(io.Discard); err != nil {
					b.Fatal(err)
				}
				answer.Close()
			}
			b.ReportMetric(float64(c.series*c.points)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
		})
	}
}
