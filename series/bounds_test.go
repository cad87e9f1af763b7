package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"weir/series/disk/faulty"
	"weir/series/names"
)

// B1: SyncAlways, several volumes, power lost.
func TestGapLosesPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes millions of points, which takes minutes with the race detector; there is nothing in it for that to find")
	}
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, Sync: SyncAlways, VolumeSize: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	noise := rand.New(rand.NewPCG(1, 1))
	ids := make([]names.ID, 8)
	for i := range ids {
		ids[i], _ = w.Series(fmt.Sprintf("m host=%d", i))
	}
	const each = 25_000
	for i := range int64(each) {
		for _, id := range ids {
			if err := w.Add(id, i, noise.Float64()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.volumes.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Log(len(s.volumes.List()), "volumes")
	lost, cases, damage := 0, 0, 0
	for seed := range uint64(60) {
		o.FS = d.Crash(seed)
		c := mustOpen(t, "db", o)
		n := 0
		for _, id := range ids {
			a, err := c.Aggregate(ctx, id, math.MinInt64, math.MaxInt64)
			if err != nil {
				t.Log(err)
			}
			n += int(a.Count)
		}
		if len(c.Recovery().Damage) > 0 {
			damage++
		}
		if n < each*len(ids) {
			cases++
			lost += each*len(ids) - n
		}
		c.Close()
	}
	s.Close()
	if cases > 0 || damage > 0 {
		t.Errorf("SyncAlways: %d of 60 losses of power lost %d confirmed points; damage was told of in %d", cases, lost, damage)
	}
}

// Points that RefusedError says were not stored.
func TestRefusedButStored(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	s := mustOpen(t, "db", Options{FS: d, Reserve: -1, OnProblem: func(error) {}})
	w := s.Writer()
	id, _ := w.Series("!e host=a")
	w.AddEvent(id, 0, []byte("x"))
	if err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	d.SetBudget(used(t, d) + 10<<20)
	text := make([]byte, 16<<10)
	refused := 0
	for i := range int64(4000) {
		for k := range text {
			text[k] = byte('a' + (int(i)*7+k*k)%26)
		}
		w.AddEvent(id, i+1, text)
		if i%64 == 63 {
			err := w.Commit(ctx)
			var r *RefusedError
			if errors.As(err, &r) {
				refused = r.Points
				t.Log(err)
				break
			}
		}
	}
	a, err := s.Aggregate(ctx, id, math.MinInt64, math.MaxInt64)
	t.Log(a.Count, a.LastTime, err)
	d.SetBudget(1 << 40)
	var last [1]int64
	var text1 [1]string
	e, _ := s.Events(ctx, id, math.MinInt64, math.MaxInt64, true)
	_, err = e.Next(last[:], text1[:])
	e.Close()
	t.Log("refused", refused, "last that can be read", last[0], err)
	s.Close()
}

// One damaged node of one series, and the log is never cut.
func TestDamagedNodeAndLog(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	noise := rand.New(rand.NewPCG(1, 1))
	id, _ := w.Series("m host=a")
	other, _ := w.Series("m host=b")
	for i := range int64(20_000) {
		w.Add(id, i, noise.Float64())
	}
	w.Commit(ctx)
	s.Close()
	s = mustOpen(t, "db", o)
	refs := s.shardOf(id).forest
	_ = refs
	end := s.volumes.End()
	list := s.volumes.List()
	s.Close()
	// The last node is the one above all, written when it was closed.
	path := list[len(list)-1].Path
	if err := d.Flip(path, int64(end&(1<<40-1))-5, 1); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	problems := map[string]int{}
	o.OnProblem = func(err error) { mu.Lock(); problems[err.Error()]++; mu.Unlock() }
	o.LogSize, o.segment = 64<<10, 8<<10
	s = mustOpen(t, "db", o)
	w = s.Writer()
	var first error
	for i := range int64(100_000) {
		for _, x := range []names.ID{id, other} {
			if err := w.Add(x, 20_000+i, noise.Float64()); err != nil && first == nil {
				first = err
			}
		}
	}
	err := w.Commit(ctx)
	t.Log("commit:", err)
	keep := s.keepLog()
	t.Log("keepLog:", keep, "; the log has", s.log.Size(), "of", o.LogSize)
	t.Log("memory:", s.keepMemory())
	mu.Lock()
	t.Log(problems)
	mu.Unlock()
	cl := s.Close()
	t.Log("close:", cl)
	if keep != nil || cl != nil {
		t.Errorf("one damaged node: the log cannot be cut (%v), the store not be closed (%v)", keep, cl)
	}
}

// The keeper while a backup goes on.
func TestBackupStopsKeeper(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, Memory: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	w.Series("m host=a")
	w.Commit(ctx)
	inside, release := make(chan bool), make(chan bool)
	var once sync.Once
	go s.Backup(ctx, "copy", func(_, _ int64) {
		once.Do(func() { close(inside); <-release })
	})
	<-inside
	time.Sleep(300 * time.Millisecond)
	for i := range 20_000 {
		id, err := w.Series(fmt.Sprintf("m host=%d", i))
		if err != nil {
			t.Fatal(err)
		}
		for k := range int64(20) {
			w.Add(id, k, float64(i)*1.37*float64(k))
		}
	}
	w.Commit(ctx)
	time.Sleep(1500 * time.Millisecond)
	memory := func() (n int) {
		for i := range s.shards {
			s.shards[i].mu.Lock()
			n += s.shards[i].forest.Memory()
			s.shards[i].mu.Unlock()
		}
		return n
	}
	during := memory()
	close(release)
	time.Sleep(1500 * time.Millisecond)
	t.Logf("open series took %d bytes during the backup, %d after, of %d", during, memory(), o.Memory)
	if during > 2*memory() {
		t.Error("nothing keeps memory within its bound while a backup goes on")
	}
	s.Close()
}

// B5: LogSize below a segment.
func TestSmallLogSize(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, LogSize: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	id, _ := w.Series("m host=a")
	for i := range int64(1_000_000) {
		w.Add(id, i, math.Sqrt(float64(i)))
	}
	w.Commit(ctx)
	time.Sleep(600 * time.Millisecond)
	before := d.Counts()
	time.Sleep(2 * time.Second)
	after := d.Counts()
	n := after.Ops[faulty.Sync] - before.Ops[faulty.Sync]
	size := s.log.Size()
	s.Close()
	if n > 1 || size > 2*o.LogSize {
		t.Errorf("log of %d bytes with LogSize %d; an idle store syncs %d times and renames %d in 2 s", size, o.LogSize, n, after.Ops[faulty.Rename]-before.Ops[faulty.Rename])
	}
}

// Volumes of a ring that are recycled while they are copied.
func TestRingBackup(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, Volumes: 4}
	s := mustOpen(t, "db", o)
	noise := rand.New(rand.NewPCG(1, 2))
	now := int64(0)
	w := s.Writer()
	id, _ := w.Series("m host=a")
	write := func(n int) {
		for range n {
			now++
			w.Add(id, now, noise.Float64())
		}
		if err := w.Commit(ctx); err != nil {
			t.Error(err)
		}
	}
	write(700_000)
	s.Checkpoint()
	once := false
	hook := func(op faulty.Op, name string) error {
		if !once && op == faulty.Write && filepath.Dir(name) == "copy/volumes" {
			once = true
			write(350_000) // while the first volume is copied
		}
		return nil
	}
	d.SetHook(hook)
	err := s.Backup(ctx, "copy", nil)
	d.SetHook(nil)
	s.Close()
	list, _ := d.ReadDir("copy/volumes")
	t.Log(err, list)
	r, err := Verify(ctx, "copy", VerifyOptions{FS: d})
	if err != nil || !r.OK() {
		t.Errorf("%d lost, damage %v, %v", len(r.Lost), r.Damage, err)
	}
	o.FS = d
	c := mustOpen(t, "copy", o)
	n, err := numbersOf(ctx, c, id)
	t.Log(len(n), err, c.Recovery().Damage)
	a, err2 := c.Aggregate(ctx, id, math.MinInt64, math.MaxInt64)
	if err != nil || err2 != nil || int(a.Count) != len(n) {
		t.Errorf("%v %v, %d points of %d", err, err2, len(n), a.Count)
	}
	c.Close()
}

// What Delete counts and writes.
func TestDeleteCount(t *testing.T) {
	ctx := context.Background()
	s := mustOpen(t, "db", Options{FS: faulty.New(), Reserve: -1})
	defer s.Close()
	w := s.Writer()
	id, _ := w.Series("m host=a")
	w.Add(id, 100, 1)
	w.Commit(ctx)
	before := s.volumes.Stats().Appends
	n, err := s.Delete(ctx, nil, 0, 50)
	m, _ := s.Delete(ctx, nil, 0, 50)
	if n != 0 || m != 0 {
		t.Errorf("no series has points there: Delete says %d and %d, %v, and wrote %d nodes", n, m, err, s.volumes.Stats().Appends-before)
	}
}

// B9: MaxSeries.
func TestMaxSeries(t *testing.T) {
	worst := 0
	for range 20 {
		s := mustOpen(t, "db", Options{FS: faulty.New(), Reserve: -1, MaxSeries: 10})
		var g sync.WaitGroup
		begin := make(chan bool)
		for k := range 8 {
			g.Go(func() {
				w := s.Writer()
				<-begin
				for i := range 20 {
					w.Series(fmt.Sprintf("m host=%d-%d", k, i))
				}
			})
		}
		close(begin)
		g.Wait()
		worst = max(worst, s.names.Len())
		s.Close()
	}
	if worst > 10 {
		t.Errorf("%d series with MaxSeries 10", worst)
	}
}

// Memory while the log is read.
func TestOpenMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes millions of points, which takes minutes with the race detector; there is nothing in it for that to find")
	}
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, Memory: 8 << 20, Sync: SyncNever}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	for i := range 20_000 {
		id, _ := w.Series(fmt.Sprintf("m host=%d", i))
		_ = id
	}
	for k := range int64(150) {
		for i := range 20_000 {
			w.Add(names.ID(i), k, float64(i)*1.37*float64(k))
		}
	}
	w.Commit(ctx)
	memory := func(s *Store) (n int) {
		for i := range s.shards {
			s.shards[i].mu.Lock()
			n += s.shards[i].forest.Memory()
			s.shards[i].mu.Unlock()
		}
		return n
	}
	k := d.Kill()
	before := memory(s)
	s.Close()
	o.FS = k
	s = mustOpen(t, "db", o)
	t.Logf("open series: %d bytes before the kill, %d as Open returns, Memory is %d", before, memory(s), o.Memory)
	s.Close()
}

// A store whose log failed.
func TestFailedLog(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, Sync: SyncAlways, OnProblem: func(error) {}}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	id, _ := w.Series("m host=a")
	w.Add(id, 1, 1)
	w.Commit(ctx)
	d.SetHook(func(op faulty.Op, name string) error {
		if op == faulty.Sync && filepath.Dir(name) == "db/log" {
			return syscall.EIO
		}
		return nil
	})
	w.Add(id, 2, 2)
	t.Log(w.Commit(ctx))
	d.SetHook(nil)
	w = s.Writer()
	w.Add(id, 3, 3)
	err := w.Commit(ctx)
	t.Log(err)
	n, _ := numbersOf(ctx, s, id)
	var r *RefusedError
	if errors.As(err, &r) && len(n) == 3 {
		t.Errorf("%d points were not stored, it says; there are %v", r.Points, n)
	}
	t.Log("close:", s.Close())
	s = mustOpen(t, "db", o)
	n, _ = numbersOf(ctx, s, id)
	t.Log("opened again:", n)
	s.Close()
}
