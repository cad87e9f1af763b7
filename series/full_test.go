package series

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
)

// On a full disk writing is refused and reading goes on; once there is room writing goes on without that anybody opens
// the store again, and nothing that was confirmed is lost.
func TestFullDisk(t *testing.T) {
	for _, noLog := range []bool{false, true} {
		t.Run(fmt.Sprint("log ", !noLog), func(t *testing.T) { testFullDisk(t, noLog) })
	}
}

func testFullDisk(t *testing.T, noLog bool) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, LogSize: 100 << 10, segment: 32 << 10, NoLog: noLog, OnProblem: func(error) {}}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	id, err := w.Series("cpu host=a")
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(1, 1))
	next, refused := int64(1), 0
	committed := map[float64]bool{}
	write := func(n int) error {
		var batch []float64
		for range n {
			v := noise.Float64()
			if err := w.Add(id, next, v); err != nil && !isFull(err) {
				t.Fatal(err)
			}
			batch = append(batch, v)
			next++
		}
		err := w.Commit(ctx)
		var some *RefusedError
		if errors.As(err, &some) {
			refused += some.Points
		}
		if err == nil {
			for _, v := range batch {
				committed[v] = true
			}
		}
		return err
	}
	for range 3 {
		if err := write(5000); err != nil {
			t.Fatal(err)
		}
		d.SetBudget(used(t, d) + 20<<10)
		var full error
		for range 1000 {
			if full = write(1000); full != nil {
				break
			}
		}
		if !isFull(full) {
			t.Fatalf("a full disk: %v", full)
		}
		numbers, err := numbersOf(ctx, s, id)
		if err != nil {
			t.Fatal(err)
		}
		contains(t, numbers, committed)
		d.SetBudget(1 << 40)
		if err := write(1000); err != nil {
			t.Fatalf("there is room again: %v", err)
		}
	}
	killed := d.Kill()
	if !noLog {
		d.SetBudget(used(t, d)) // it is full when it is closed: the log stays
	}
	if err := s.Close(); err != nil && (noLog || !isFull(err)) {
		t.Fatal(err)
	}
	d.SetBudget(1 << 40)
	disks := []*faulty.Disk{d}
	if !noLog {
		disks = append(disks, killed)
	}
	for _, disk := range disks {
		o.FS = disk
		s := mustOpen(t, "db", o)
		numbers, err := numbersOf(ctx, s, id)
		if err != nil {
			t.Fatal(err)
		}
		contains(t, numbers, committed)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if noLog && refused == 0 {
		t.Error("no point was refused")
	}
}

func isFull(err error) bool { return errors.Is(err, ErrFull) }

// used is how many bytes all files of the store have.
func used(t *testing.T, d *faulty.Disk) (bytes int64) {
	for _, path := range filesOf(t, d) {
		size, err := d.Size(path)
		if err != nil {
			t.Fatal(err)
		}
		bytes += size
	}
	return bytes
}

// contains fails unless all that was committed is there, and nothing twice.
func contains(t *testing.T, numbers []float64, committed map[float64]bool) {
	t.Helper()
	slices.Sort(numbers)
	if n := len(slices.Compact(slices.Clone(numbers))); n != len(numbers) {
		t.Fatalf("%d points are there twice", len(numbers)-n)
	}
	there := map[float64]bool{}
	for _, v := range numbers {
		there[v] = true
	}
	for v := range committed {
		if !there[v] {
			t.Fatalf("%v was committed, and is not there", v)
		}
	}
}

// Many goroutines write, read, delete, back up and close at once.
func TestTogether(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, LogSize: 200 << 10, segment: 64 << 10}
	s := mustOpen(t, "db", o)
	const writers, rounds = 4, 30
	w := s.Writer()
	for i := range 20 {
		if _, err := w.Series(fmt.Sprintf("m host=%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for k := range writers {
		group.Go(func() {
			w := s.Writer()
			for r := range rounds {
				for i := range 200 {
					id, err := w.Series(fmt.Sprintf("m host=%d", i%20))
					if err != nil {
						t.Error(err)
						return
					}
					n := (r*200+i)*writers + k
					if err := w.Add(id, int64(n), float64(n)); err != nil {
						t.Error(err)
						return
					}
				}
				if err := w.Commit(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Go(func() {
		for i := range 10 {
			if rows := ask(t, s, `{"group-aggregate": {"metric": "m", "step": "1s", "func": ["max", "count"]}, "range": {"from": 0, "to": 1000000}}`); len(rows) > 20 {
				t.Errorf("%d rows", len(rows))
			}
			if _, err := s.Delete(ctx, []names.Match{names.Tag("host", "3")}, int64(i), int64(i*100)); err != nil {
				t.Error(err)
			}
			if err := s.Backup(ctx, "copy", nil); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(0, 1, 1), w.Commit(ctx)); !errors.Is(err, ErrClosed) {
		t.Errorf("writing to a closed store: %v", err)
	}
	if _, err := s.Stats(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("stats of a closed store: %v", err)
	}
	for _, dir := range []string{"db", "copy"} {
		r, err := Verify(ctx, dir, VerifyOptions{FS: d})
		if err != nil || !r.OK() {
			t.Fatalf("%s: %+v, %v", dir, r, err)
		}
	}
	s = mustOpen(t, "db", o)
	if st, err := s.Stats(ctx); err != nil || st.Series != 20 {
		t.Errorf("%+v, %v", st, err)
	}
	if got := ask(t, s, `{"aggregate": {"m": "count"}, "where": {"host": ["7"]}}`); fmt.Sprint(got) != fmt.Sprintf("[m:count host=7 %d [%d]]", 29*200*4+187*4+3, rounds*200/20*writers) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A backup that was taken while a store was written to is a store, with all that was committed before.
func TestBackup(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	s := mustOpen(t, "db", Options{FS: d, Reserve: -1, VolumeSize: 1 << 20})
	w := s.Writer()
	id, err := w.Series("cpu host=a")
	if err != nil {
		t.Fatal(err)
	}
	next := int64(0)
	for round := range 4 {
		for range 20_000 {
			next++
			if err := w.Add(id, next, float64(next)*1.37); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		if err := s.Backup(ctx, "copy", func(done, total int64) { last = total - done }); err != nil || last != 0 {
			t.Fatalf("%v, %d bytes are left", err, last)
		}
		r, err := restore(ctx, d, "copy", fmt.Sprint("restored", round), nil)
		if err != nil || !r.OK() {
			t.Fatalf("%+v, %v", r, err)
		}
		c := mustOpen(t, fmt.Sprint("restored", round), Options{FS: d, Reserve: -1})
		if numbers, err := numbersOf(ctx, c, id); err != nil || int64(len(numbers)) != next {
			t.Fatalf("%d points, want %d; %v", len(numbers), next, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, "other", Options{FS: d, Reserve: -1})
	if err := other.Backup(ctx, "copy", nil); err == nil {
		t.Error("backed up to the copy of another store")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(ctx, d, "copy", "restored1", nil); err == nil {
		t.Error("restored over another store")
	}
	if _, err := restore(ctx, d, "nothing", "restored9", nil); !errors.Is(err, ErrNotStore) {
		t.Errorf("restored nothing: %v", err)
	}
}

// The log leaves half of the reserve, in which a checkpoint and the names have room: on a disk that is full but for that
// names are deleted, and the store is closed and opened.
func TestReserveOfTheLog(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	d.SetBudget(20 << 20)
	o := Options{FS: d, Reserve: 4 << 20, VolumeSize: 1 << 20, LogSize: 1 << 30, OnProblem: func(error) {}}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	noise := rand.New(rand.NewPCG(1, 1))
	var full error
	for i := int64(0); full == nil; i++ {
		id, err := w.Series(fmt.Sprintf("cpu host=%d", i%1000))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(id, i, noise.Float64()); err != nil && !isFull(err) {
			t.Fatal(err)
		}
		if i%1000 == 999 {
			full = w.Commit(ctx)
		}
	}
	if free, err := d.Free("db"); !isFull(full) || err != nil || free < 2<<20 || free > 4<<20 {
		t.Fatalf("%v; %d bytes are free, %v", full, free, err)
	}
	if n, err := s.DropSeries(ctx, nil); err != nil || n != 1000 {
		t.Errorf("%d series deleted, %v", n, err)
	}
	if err := s.Close(); err != nil && !isFull(err) {
		t.Fatal(err)
	}
	s = mustOpen(t, "db", o)
	if n := s.Names().Len(); n != 0 {
		t.Errorf("%d series are left", n)
	}
	if err := s.Close(); err != nil && !isFull(err) {
		t.Fatal(err)
	}
}
