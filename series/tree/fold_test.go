package tree_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

func openVolumes(t testing.TB) (*volume.Volumes, *faulty.Disk) {
	d := faulty.New()
	v, err := volume.Open(d, "v", volume.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	return v, d
}

// foldAll folds a series to which nothing comes meanwhile.
func foldAll(t testing.TB, f *tree.Forest, id names.ID, o tree.FoldOptions) {
	t.Helper()
	x, err := f.BeginFold(id, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if ok, err := f.EndFold(x); !ok || err != nil {
		t.Fatalf("ended %v, %v", ok, err)
	}
}

// all is the points of a series.
func all(t tester, f *tree.Forest, id names.ID) (times []int64, values []float64) {
	t.Helper()
	c := f.View(id, math.MinInt64, math.MaxInt64).Points(false, nil)
	buffer, numbers := make([]int64, 4096), make([]float64, 4096)
	for {
		n, err := c.Next(buffer, numbers)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return times, values
		}
		times, values = append(times, buffer[:n]...), append(values, numbers[:n]...)
	}
}

func same(t testing.TB, f *tree.Forest, id names.ID, times []int64, values []float64) {
	t.Helper()
	gotTimes, gotValues := all(t, f, id)
	if len(gotTimes) != len(times) {
		t.Fatalf("%d points, want %d", len(gotTimes), len(times))
	}
	for i := range times {
		if gotTimes[i] != times[i] || math.Float64bits(gotValues[i]) != math.Float64bits(values[i]) {
			t.Fatalf("point %d: %v at %d, want %v at %d", i, gotValues[i], gotTimes[i], values[i], times[i])
		}
	}
}

// fragments is a series in small leaves, with late points, of which some are in a lane that has a tree of its own, with
// deletions, and closed now and then. Values are arbitrary bits.
func fragments(t testing.TB, f *tree.Forest, id names.ID, n int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	add := func(time int64) {
		if _, err := f.Append(id, time, math.Float64frombits(rnd.Uint64()), 1); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		add(int64(i) * 100)
		if i > 1000 {
			add(int64(i)*50 + 1)
		}
		var err error
		switch {
		case i%5000 == 4999:
			_, _, err = f.Delete(id, int64(i)*90, int64(i)*90+7000)
		case i%1777 == 0:
			err = f.Close(id)
		case i%100 == 0:
			err = f.Flush(id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// After a fold, a series is as if its points had come in order, and were all there.
func TestFoldedIsAsFresh(t *testing.T) {
	v, _ := openVolumes(t)
	f := tree.New(v, 0, 1, tree.Limits{Tail: 64, Leaf: 4096, Late: 50})
	defer f.Release()
	fragments(t, f, 0, 60_000)
	times, values := all(t, f, 0)
	aggregate, err := f.View(0, math.MinInt64, math.MaxInt64).Aggregate()
	if err != nil {
		t.Fatal(err)
	}
	before := f.Fragmented(0)
	if before.Lanes == 0 || before.Deletions != 12 || before.Small < 500 || before.Late == 0 {
		t.Fatalf("it should be in fragments, and is %+v", before)
	}
	end := v.End()
	foldAll(t, f, 0, tree.FoldOptions{})
	same(t, f, 0, times, values)
	folded := f.Fragmented(0)
	if folded.Lanes != 0 || folded.Deletions != 0 || folded.Small != 0 || folded.Points != uint64(len(times)) {
		t.Errorf("folded, it is %+v", folded)
	}
	if oldest := f.OldestNode(); oldest < end || oldest != folded.Oldest {
		t.Errorf("the oldest node is at %#x, want %#x or above", oldest, end)
	}
	total, ok := f.Total(0)
	if !ok || total.Count != aggregate.Count || total.NaNs != aggregate.NaNs || total.Min != aggregate.Min || total.Max != aggregate.Max ||
		total.MinTime != aggregate.MinTime || total.MaxTime != aggregate.MaxTime || math.Float64bits(total.First) != math.Float64bits(aggregate.First) ||
		math.Float64bits(total.Last) != math.Float64bits(aggregate.Last) {
		t.Errorf("in all %+v, %v; want %+v", total, ok, aggregate)
	}

	// The same points in order, as they should be.
	fresh, _ := openVolumes(t)
	g := tree.New(fresh, 0, 1, tree.DefaultLimits)
	defer g.Release()
	for i := range times {
		if _, err := g.Append(0, times[i], values[i], 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Flush(0); err != nil {
		t.Fatal(err)
	}
	want := g.Fragmented(0)
	if folded.Leaves > want.Leaves+1 {
		t.Errorf("%d leaves, want about %d", folded.Leaves, want.Leaves)
	}
	for range 50 {
		from := times[rand.IntN(len(times))]
		to := from + rand.Int64N(1_000_000)
		reads := func(f *tree.Forest, v *volume.Volumes) uint64 {
			n := v.Stats().Reads
			if _, err := f.View(0, from, to).Aggregate(); err != nil {
				t.Fatal(err)
			}
			return v.Stats().Reads - n
		}
		// Where leaves begin differs, and so does which are cut by the ends of a range, and the nodes above them.
		if got, want := reads(f, v), reads(g, fresh); got > want+4 {
			t.Errorf("%d reads from %d to %d, want about %d", got, from, to, want)
		}
	}

	// And once more: nothing is left to do.
	foldAll(t, f, 0, tree.FoldOptions{})
	same(t, f, 0, times, values)
	if again := f.Fragmented(0); again.Leaves != folded.Leaves {
		t.Errorf("folded again, it has %d leaves, %d before", again.Leaves, folded.Leaves)
	}
}

// Nodes of old volumes are not read by a Forest that is made of those that are left; and it goes on as the first one
// would have.
func TestFoldedFromItsNodes(t *testing.T) {
	v, _ := openVolumes(t)
	d := &dropping{Volumes: v}
	limits := tree.Limits{Tail: 16, Leaf: 200, Late: 10}
	f := tree.New(d, 0, 1, limits)
	rounds := 4
	if testing.Short() {
		rounds = 2 // each reads all that those before have left; one goroutine has nothing for the race detector
	}
	for round := range rounds {
		fragments(t, f, 0, 3000*(round+1))
		x, err := f.BeginFold(0, tree.FoldOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fragments(t, f, 1, 100)
		for i := range int64(2000) { // in order and late, enough for nodes above leaves
			for _, time := range []int64{1e7*int64(round+1) + i, -1e6*int64(round+1) + i} {
				if _, err := f.Append(0, time, float64(i%13), 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.Close(0); err != nil {
			t.Fatal(err)
		}
		if err := x.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		times, values := all(t, f, 0)
		if ok, err := f.EndFold(x); !ok || err != nil {
			t.Fatalf("round %d: ended %v, %v", round, ok, err)
		}
		same(t, f, 0, times, values)
		for i := range int64(3000) { // and some behind it
			if _, err := f.Append(0, 1e7*int64(round+1)+5000+i, float64(i%11), 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.CloseAll(); err != nil {
			t.Fatal(err)
		}
		times, values = all(t, f, 0)
		before := f.Fragmented(0)
		d.oldest = f.OldestNode()
		if err := f.Release(); err != nil {
			t.Fatal(err)
		}
		f = tree.New(d, 0, 1, limits)
		if _, err := v.Scan(d.oldest, f.Restore, func(err *volume.CorruptError) { t.Fatal(err) }); err != nil {
			t.Fatal(err)
		}
		same(t, f, 0, times, values)
		if after := f.Fragmented(0); after != before {
			t.Fatalf("round %d: %+v, before it was made again %+v", round, after, before)
		}
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
}

// Events keep their texts, in full leaves.
func TestFoldEvents(t *testing.T) {
	v, _ := openVolumes(t)
	f := tree.New(v, 0, 1, tree.Limits{Tail: 4, Leaf: 100, Late: 7})
	defer f.Release()
	const n = 5000
	texts := map[int64]string{}
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range int64(n) {
		time := i*7%n*10 + 5
		texts[time] = fmt.Sprint("event ", i, " ", string(make([]byte, rnd.IntN(20)*rnd.IntN(200))))
		if i == 77 {
			texts[time] = string(make([]byte, tree.MaxText))
		}
		if _, err := f.AppendEvent(0, time, []byte(texts[time]), 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Delete(0, 100, 199); err != nil {
		t.Fatal(err)
	}
	for time := int64(105); time < 200; time += 10 {
		delete(texts, time)
	}
	small := f.Fragmented(0).Leaves
	foldAll(t, f, 0, tree.FoldOptions{Before: 1000})
	for time := range texts {
		if time < 1000 {
			delete(texts, time)
		}
	}
	if x := f.Fragmented(0); x.Lanes != 0 || x.Deletions != 0 || x.Leaves > small/2 || x.Points != uint64(len(texts)) {
		t.Errorf("folded, it is %+v; it had %d leaves", x, small)
	}
	times, got := make([]int64, n), make([][]byte, n)
	k, err := f.View(0, math.MinInt64, math.MaxInt64).Points(false, nil).NextText(times, got)
	if err != nil || k != len(texts) {
		t.Fatalf("%d events, %v; want %d", k, err, len(texts))
	}
	for i := range k {
		if i > 0 && times[i] <= times[i-1] || texts[times[i]] != string(got[i]) {
			t.Fatalf("event %d at %d: %.20q, want %.20q", i, times[i], got[i], texts[times[i]])
		}
	}
}

// While the disk is full, a fold fails and changes nothing.
func TestFoldOnFullDisk(t *testing.T) {
	d := faulty.New()
	v, err := volume.Open(d, "v", volume.Options{Size: volume.MinSize, Buffer: 1 << 17, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	f := tree.New(v, 0, 1, tree.Limits{Tail: 64, Leaf: 4096, Late: 50})
	defer f.Release()
	fragments(t, f, 0, 30_000)
	times, values := all(t, f, 0)
	free, err := d.Free("")
	if err != nil {
		t.Fatal(err)
	}
	for room := int64(2000); ; room *= 4 { // what a fold had written before it failed takes room too
		d.SetBudget(math.MaxInt64 - free + room)
		x, err := f.BeginFold(0, tree.FoldOptions{})
		if err == nil {
			err = x.Run(context.Background())
			ok, e := f.EndFold(x)
			if ok != (err == nil && e == nil) {
				t.Fatalf("ended %v after %v, %v", ok, err, e)
			}
			if err = errors.Join(err, e); err == nil {
				break
			}
		}
		if !errors.Is(err, volume.ErrFull) {
			t.Fatalf("%v, want %v", err, volume.ErrFull)
		}
		same(t, f, 0, times, values)
		if x := f.Fragmented(0); x.Lanes == 0 {
			t.Fatalf("there was no room, and it is %+v", x)
		}
	}
	same(t, f, 0, times, values)
	if x := f.Fragmented(0); x.Lanes != 0 {
		t.Errorf("folded, it is %+v", x)
	}
}

// A fold ends with its context, and when it has become pointless.
func TestFoldEndsEarly(t *testing.T) {
	v, _ := openVolumes(t)
	f := tree.New(v, 0, 1, tree.DefaultLimits)
	defer f.Release()
	fragments(t, f, 0, 10_000)
	times, values := all(t, f, 0)
	x, err := f.BeginFold(0, tree.FoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := x.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if ok, err := f.EndFold(x); ok || err != nil {
		t.Errorf("ended %v, %v", ok, err)
	}
	same(t, f, 0, times, values)
	for _, disturb := range []func() error{
		func() error { _, _, err := f.Delete(0, times[0], times[0]); return err },
		func() error { return f.Drop(0) },
	} {
		if x, err = f.BeginFold(0, tree.FoldOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := disturb(); err != nil {
			t.Fatal(err)
		}
		if err := x.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if ok, err := f.EndFold(x); ok || err != nil {
			t.Errorf("ended %v, %v", ok, err)
		}
	}
	if times, _ := all(t, f, 0); len(times) != 0 {
		t.Errorf("%d points of a series that was dropped", len(times))
	}
}

// Where a node cannot be read, a fold says so, and changes nothing.
func TestFoldOfDamage(t *testing.T) {
	v, _ := openVolumes(t)
	b := &broken{Volumes: v}
	f := tree.New(b, 0, 1, tree.DefaultLimits)
	defer f.Release()
	fragments(t, f, 0, 50_000)
	b.at = f.OldestNode()
	before := f.Fragmented(0)
	x, err := f.BeginFold(0, tree.FoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Run(context.Background()); !errors.Is(err, errBroken) {
		t.Errorf("%v, want %v", err, errBroken)
	}
	if ok, err := f.EndFold(x); ok || err != nil {
		t.Errorf("ended %v, %v", ok, err)
	}
	if after := f.Fragmented(0); after.Deletions != before.Deletions || after.Lanes != before.Lanes || after.Oldest != before.Oldest {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// broken is volumes in which the node at an address cannot be read.
type broken struct {
	*volume.Volumes
	at uint64
}

var errBroken = errors.New("broken")

func (b *broken) Read(dst []byte, at uint64, length int) ([]byte, error) {
	if at == b.at {
		return nil, errBroken
	}
	return b.Volumes.Read(dst, at, length)
}

func BenchmarkFold(b *testing.B) {
	f, _ := fill(b, 1, 1_000_000, tree.Limits{Tail: 64, Leaf: 300, Late: 64})
	defer f.Release()
	for b.Loop() {
		foldAll(b, f, 0, tree.FoldOptions{})
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
}

// tester is a testing.TB or a rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
}
