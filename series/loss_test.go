package series

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
)

func writeWhole(t *testing.T, d *faulty.Disk, path string, b []byte) {
	f, err := d.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err == nil {
		_, err = f.WriteAt(b, 0)
		err = errors.Join(err, f.Sync(), f.Close(), d.SyncDir(filepath.Dir(path)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An event without text, killed.
func TestEmptyEvent(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	s := mustOpen(t, "db", Options{FS: d, Reserve: -1})
	w := s.Writer()
	id, _ := w.Series("!boot host=a")
	if err := errors.Join(w.AddEvent(id, 1, nil), w.Commit(ctx)); err != nil {
		t.Fatal(err)
	}
	k := d.Kill()
	s.Close()
	s, err := Open(ctx, "db", Options{FS: k, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// A manifest of a later version.
func TestLaterVersion(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	s := mustOpen(t, "db", Options{FS: d, Reserve: -1})
	s.Close()
	b, _ := readFile(d, "db/store.wst", 100)
	binary.LittleEndian.PutUint32(b[8:], 2)
	binary.LittleEndian.PutUint32(b[12:], 64)
	binary.LittleEndian.PutUint32(b[manifestSize-4:], crc32.Checksum(b[:manifestSize-4], castagnoli))
	writeWhole(t, d, "db/store.wst", b)
	s, err := Open(ctx, "db", Options{FS: d, Reserve: -1})
	if err == nil {
		s.Close()
		m, err := readManifest(d, "db")
		t.Fatalf("a store of version 2 with 64 shards was opened; damage %v; the manifest now: %+v %v", s.Recovery().Damage, m, err)
	}
}

// Backup onto itself.
func TestBackupOntoItself(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	id, _ := w.Series("m host=a")
	for i := range int64(5000) {
		w.Add(id, i, math.Sqrt(float64(i)))
	}
	w.Commit(ctx)
	s.Close()
	s = mustOpen(t, "db", o)
	err := s.Backup(ctx, "db", nil)
	t.Log("backup:", err)
	n, e := numbersOf(ctx, s, id)
	t.Log(len(n), e, s.Close())
	s, e = Open(ctx, "db", o)
	if e != nil {
		t.Fatal(e)
	}
	defer s.Close()
	n, e = numbersOf(ctx, s, id)
	if len(n) != 5000 {
		t.Fatalf("after a backup onto itself: %d points, %v; %+v", len(n), e, s.Recovery())
	}
}

// An id in a page of a checkpoint whose name was never durable is given again.
func TestReusedID(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(40) {
		d := faulty.New()
		o := Options{FS: d, Reserve: -1, Sync: SyncNever, VolumeSize: 1 << 20}
		s := mustOpen(t, "db", o)
		w := s.Writer()
		a, _ := w.Series("m host=a")
		w.Add(a, 1, 1)
		w.Commit(ctx)
		done := false
		d.SetHook(func(op faulty.Op, name string) error {
			if done || op != faulty.Read || filepath.Ext(name) != ".wsn" {
				return nil
			}
			done = true
			v := s.Writer()
			b, err := v.Series("lost host=b")
			if err != nil {
				t.Error(err)
			}
			v.Add(b, 77, 77)
			if err := v.Commit(ctx); err != nil {
				t.Error(err)
			}
			sh := s.shardOf(b)
			sh.mu.Lock()
			sh.forest.Flush(b) // as for want of memory
			sh.mu.Unlock()
			return nil
		})
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		d.SetHook(nil)
		c := d.Crash(seed)
		s.Close()
		o.FS = c
		s = mustOpen(t, "db", o)
		w = s.Writer()
		id, err := w.Series("new host=c")
		if err != nil {
			t.Fatal(err)
		}
		n, err := numbersOf(ctx, s, id)
		if len(n) > 0 {
			t.Errorf("seed %d: new series %d has %v, %v, never written to", seed, id, n, err)
		}
		s.Close()
		if t.Failed() {
			return
		}
	}
}

// A copied volume whose fsync failed is taken for whole by the next backup.
func TestBackupSync(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	id, _ := w.Series("m host=a")
	if err := s.Backup(ctx, "copy", nil); err != nil {
		t.Fatal(err)
	}
	for i := range int64(400_000) {
		w.Add(id, i, math.Sin(float64(i)*1.7))
	}
	w.Commit(ctx)
	s.toVolumes(ctx)
	if len(s.volumes.List()) < 2 {
		t.Fatal("one volume")
	}
	failed := false
	d.SetHook(func(op faulty.Op, name string) error {
		if !failed && op == faulty.Sync && name == "copy/volumes/volume-00000001.wsv" {
			failed = true
			return syscall.EIO
		}
		return nil
	})
	err := s.Backup(ctx, "copy", nil)
	t.Log("first:", err)
	if err = s.Backup(ctx, "copy", nil); err != nil {
		t.Fatal(err)
	}
	d.SetHook(nil)
	bad := 0
	for seed := range uint64(10) {
		c := d.Crash(seed)
		r, err := Verify(ctx, "copy", VerifyOptions{FS: c})
		if err != nil || !r.OK() {
			bad++
		}
	}
	s.Close()
	if bad > 0 {
		t.Errorf("a backup that succeeded is damaged after a loss of power in %d of 10 cases", bad)
	}
}

// DropSeries, Sync, power lost.
func TestDropSync(t *testing.T) {
	ctx := context.Background()
	back := 0
	for seed := range uint64(20) {
		d := faulty.New()
		o := Options{FS: d, Reserve: -1, Sync: SyncInterval}
		s := mustOpen(t, "db", o)
		w := s.Writer()
		a, _ := w.Series("m host=a")
		w.Add(a, 1, 1)
		w.Commit(ctx)
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if n, err := s.DropSeries(ctx, []names.Match{names.Tag("host", "a")}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		c := d.Crash(seed)
		s.Close()
		o.FS = c
		s = mustOpen(t, "db", o)
		if s.names.Len() > 0 {
			back++
		}
		s.Close()
	}
	if back > 0 {
		t.Errorf("dropped and synced, a series is back after power loss in %d of 20 cases", back)
	}
}

// What a reader sees when the store is closed.
func TestReadWhileClosed(t *testing.T) {
	ctx := context.Background()
	s := mustOpen(t, t.TempDir(), Options{Reserve: -1})
	w := s.Writer()
	id, _ := w.Series("m host=a")
	for i := range int64(100_000) {
		w.Add(id, i, math.Sqrt(float64(i)))
	}
	w.Commit(ctx)
	p, err := s.Points(ctx, id, math.MinInt64, math.MaxInt64, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	times, values := make([]int64, 1000), make([]float64, 1000)
	for range 200 {
		if n, e := p.Next(times, values); e != nil || n < 1000 {
			err = e
			break
		}
	}
	if !errors.Is(err, ErrClosed) {
		t.Errorf("reading from a closed store: %v, want ErrClosed", err)
	}
	p.Close()
	if _, err := w.Series("new host=b"); !errors.Is(err, ErrClosed) {
		t.Errorf("Series of a closed store: %v, want ErrClosed", err)
	}
}

// An unfinished copy is opened.
func TestUnfinishedCopy(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	id, _ := w.Series("m host=a")
	for i := range int64(100_000) {
		w.Add(id, i, math.Sqrt(float64(i)))
	}
	w.Commit(ctx)
	d.SetHook(func(op faulty.Op, name string) error {
		if op == faulty.Write && filepath.Dir(name) == "copy/names" {
			return syscall.EIO
		}
		return nil
	})
	t.Log(s.Backup(ctx, "copy", nil))
	d.SetHook(nil)
	s.Close()
	r, err := Verify(ctx, "copy", VerifyOptions{FS: d})
	t.Logf("verify: %+v %v", r, err)
	c, err := Open(ctx, "copy", o)
	if err == nil {
		t.Errorf("an unfinished copy was opened: %d series; recovery %+v", c.names.Len(), c.Recovery())
		c.Close()
	}
}
