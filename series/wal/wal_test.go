package wal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/series/disk"
	"weir/series/disk/faulty"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// payload is one that says which frame it is, and whose other bytes follow from that.
func payload(id int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(id), 7))
	p := binary.LittleEndian.AppendUint64(nil, uint64(id))
	for range rnd.IntN(1 << rnd.IntN(10)) {
		p = append(p, byte(rnd.Uint32()))
	}
	if rnd.IntN(3) == 0 {
		p = p[:8] // frames of the length of a mark and thereabouts
	}
	return p
}

func stream(id int) uint16 { return uint16(id * 7919 % 5) }

type found struct {
	id      int
	segment uint32
}

// reopen opens a log and returns what it replays.
func reopen(t fataler, d disk.FS, o Options) (*Log, []found, Recovery) {
	t.Helper()
	l, err := Open(d, "d", o)
	if err != nil {
		t.Fatal(err)
	}
	var all []found
	rec, err := l.Replay(func(f Frame) error {
		if len(f.Payload) < 8 {
			return fmt.Errorf("a payload of %d bytes", len(f.Payload))
		}
		id := int(binary.LittleEndian.Uint64(f.Payload))
		if f.Stream != stream(id) || !bytes.Equal(f.Payload, payload(id)) {
			return fmt.Errorf("frame %d is not what was appended", id)
		}
		if n := len(all); n > 0 && all[n-1].id+1 != id {
			return fmt.Errorf("frame %d follows frame %d", id, all[n-1].id)
		}
		all = append(all, found{id, f.Segment})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if rec.Frames != len(all) {
		t.Fatalf("%d frames replayed, but %d counted", len(all), rec.Frames)
	}
	return l, all, rec
}

// TestModel kills the program and loses power again and again: what was acknowledged is there, in order and once.
func TestModel(t *testing.T) {
	for _, mode := range []Mode{Always, Interval, Never} {
		t.Run(fmt.Sprint(int(mode)), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { model(t, mode) })
		})
	}
}

func model(t *rapid.T, mode Mode) {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	o := Options{Sync: mode, Interval: time.Hour, SegmentSize: minSegmentSize << rnd.IntN(3)}
	d := faulty.New()
	next := 0                // id of the next frame
	written, durable := 0, 0 // frames with lower ids are
	var segments []uint32    // by id, the lowest in which the frame may be
	released := uint32(0)
	for range rapid.IntRange(1, 7).Draw(t, "lives") {
		l, all, _ := reopen(t, d, o)
		first, end := next, next
		if len(all) > 0 {
			first, end = all[0].id, all[len(all)-1].id+1
		}
		// What was released may be gone, and nothing else.
		for id := range min(first, durable) {
			if segments[id] >= released {
				t.Fatalf("frame %d of segment %d or higher is gone, of which those below %d were released", id, segments[id], released)
			}
		}
		if len(all) > 0 && end < durable || end > next {
			t.Fatalf("frames up to %d, of %d that were appended and %d that were durable", end, next, durable)
		}
		for _, f := range all {
			if f.segment < segments[f.id] {
				t.Fatalf("frame %d is in segment %d, below %d", f.id, f.segment, segments[f.id])
			}
		}
		if len(all) == 0 {
			end = durable // all was released, and what was not durable is lost
		}
		next, written, durable = end, end, end
		segments = segments[:end]
		base := next
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			var err error
			switch k := rnd.IntN(20); {
			case k < 14:
				segment := l.Segment()
				var lsn LSN
				if lsn, err = l.Append(stream(next), payload(next)); err == nil {
					segments = append(segments, segment)
					next++
					if lsn != LSN(next-base) {
						t.Fatalf("frame %d after %d has number %d", next, base, lsn)
					}
				}
			case k < 17 && next > base:
				upto := base + rnd.IntN(next-base) + 1
				if err = l.Commit(ctx, LSN(upto-base)); err == nil {
					written = max(written, upto)
					if mode == Always {
						durable = max(durable, upto)
					}
				}
			case k < 18:
				if err = l.Sync(ctx); err == nil {
					written, durable = next, next
				}
			case k < 19:
				before := l.Segment() - uint32(rnd.IntN(2))
				released = max(released, before)
				err = l.Release(before)
			default:
				d.FailAt([]faulty.Op{faulty.Write, faulty.Write, faulty.Sync}[rnd.IntN(3)], 1+rnd.IntN(3), syscall.EIO)
			}
			if errors.Is(err, ErrFailed) {
				break
			}
			if err != nil && !errors.Is(err, syscall.EIO) {
				t.Fatal(err)
			}
		}
		before := d
		switch rapid.IntRange(0, 2).Draw(t, "end") {
		case 0:
			d = d.Kill()
			durable = written
		case 1:
			d = d.Crash(rnd.Uint64())
		default:
			before = nil
			if err := l.Close(); err == nil {
				durable = next
			} else if !errors.Is(err, syscall.EIO) {
				t.Fatal(err)
			}
			d = d.Kill() // without the faults that are left
		}
		if before != nil {
			_ = l.Close() // of the disk that is no more
		}
	}
}

// TestFull: on a full disk Commit and Append say so, and all goes on once there is room.
func TestFull(t *testing.T) {
	for _, budget := range []int64{0, 10, 3000, 5000, 100_000} {
		d := faulty.New()
		o := Options{SegmentSize: minSegmentSize}
		l, _, _ := reopen(t, d, o)
		d.SetBudget(budget)
		n, ok := 0, 0
		var err error
		for err == nil {
			lsn, err2 := l.Append(stream(n), payload(n))
			if err2 != nil {
				t.Fatal(err2)
			}
			n++
			if err = l.Commit(ctx, lsn); err == nil {
				ok = n
			}
		}
		if !errors.Is(err, ErrFull) {
			t.Fatalf("commit to a full disk: %v", err)
		}
		other, all, _ := reopen(t, d.Crash(uint64(budget)), o)
		if len(all) < ok || len(all) > n {
			t.Fatalf("%d frames after a crash, of %d that were acknowledged and %d in all", len(all), ok, n)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := l.Commit(ctx, LSN(n)); !errors.Is(err, ErrFull) {
				t.Fatalf("commit to a full disk: %v", err)
			}
		}
		d.SetBudget(1 << 30)
		if err := l.Commit(ctx, LSN(n)); err != nil {
			t.Fatal(err)
		}
		other, all, _ = reopen(t, d.Crash(uint64(budget)), o)
		if len(all) != n {
			t.Fatalf("%d frames, want %d", len(all), n)
		}
		if err := errors.Join(other.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackPressure: what cannot be written is not taken without end.
func TestBackPressure(t *testing.T) {
	d := faulty.New()
	l, _, _ := reopen(t, d, Options{Sync: Never})
	d.SetBudget(1 << 20)
	big, n := make([]byte, MaxFrame), 0
	var err error
	for n < 100 && err == nil {
		if _, err = l.Append(1, big); err == nil {
			n++
		}
	}
	if !errors.Is(err, ErrFull) || n < 3 || n > 8 {
		t.Fatalf("%d frames of 4 MiB, then %v", n, err)
	}
	if _, err := l.Append(1, make([]byte, MaxFrame+1)); err == nil {
		t.Error("a frame that is too large was taken")
	}
	d.SetBudget(1 << 30)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = Open(d, "d", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := l.Replay(func(Frame) error { return nil }); err != nil || rec.Frames != n {
		t.Fatalf("%+v, %v; want %d frames", rec, err, n)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFlip inverts bits of any byte: it is found, and nothing that was followed by a mark is cut.
func TestFlip(t *testing.T) {
	d := faulty.New()
	o := Options{SegmentSize: minSegmentSize}
	l, _, _ := reopen(t, d, o)
	var n int
	for ; l.Segment() < 4; n++ {
		lsn, err := l.Append(stream(n), payload(n))
		if err == nil {
			err = l.Commit(ctx, lsn)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lastFrame := l.off - int64(frameSize+len(payload(n-1)))
	for _, id := range []int{n, n + 1} {
		if _, err := l.Append(stream(id), payload(id)); err != nil {
			t.Fatal(err)
		}
		if err := l.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	n += 2
	stride := int64(3)
	if testing.Short() {
		stride = 29 // each flip opens a log: a minute with the race detector, which finds nothing in one goroutine
	}
	marked := l.marked
	if marked <= lastFrame {
		t.Fatalf("the last mark is of byte %d", marked)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for number := uint32(1); number <= 4; number++ {
		size, err := d.Size(l.path(number))
		if err != nil {
			t.Fatal(err)
		}
		for off := int64(0); off < size; off += 1 + off%stride {
			c := d.Kill()
			if err := c.Flip(l.path(number), off, byte(1+off%255)); err != nil {
				t.Fatal(err)
			}
			l, err := Open(c, "d", o)
			if err != nil {
				t.Fatal(err)
			}
			frames := 0
			rec, err := l.Replay(func(Frame) error { frames++; return nil })
			if number == 4 && off >= marked {
				if err != nil || rec.Path != l.path(4) || rec.Offset < marked || rec.Offset > off || rec.Cut != size-rec.Offset || frames < n-2 {
					t.Fatalf("byte %d of the end: %+v, %v", off, rec, err)
				}
			} else if e := (*CorruptError)(nil); !errors.As(err, &e) || e.Path != l.path(number) || e.Offset > off || off-e.Offset > 2000 {
				t.Fatalf("byte %d of segment %d: %v", off, number, err)
			} else if _, err := l.Append(1, nil); err == nil {
				t.Fatal("appended to a damaged log")
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Remove(l.path(2)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(d, "d", o)
	if err != nil {
		t.Fatal(err)
	}
	var e *CorruptError
	if _, err := l.Replay(func(Frame) error { return nil }); !errors.As(err, &e) || e.Path != l.path(2) {
		t.Fatalf("a missing segment: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFailed: after an fsync that failed nothing is acknowledged; opened again, what is found is made durable anew.
func TestFailed(t *testing.T) {
	d := faulty.New()
	l, _, _ := reopen(t, d, Options{})
	for n := range 20 {
		lsn, err := l.Append(stream(n), payload(n))
		if err != nil {
			t.Fatal(err)
		}
		if n == 10 {
			d.FailAt(faulty.Sync, 1, syscall.EIO)
			for range 2 {
				if err := l.Commit(ctx, lsn); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
					t.Fatalf("commit: %v", err)
				}
			}
			if err := l.Commit(ctx, lsn-1); err != nil {
				t.Fatalf("commit of what was durable: %v", err)
			}
			if _, err := l.Append(0, nil); !errors.Is(err, ErrFailed) {
				t.Fatalf("append: %v", err)
			}
			break
		}
		if err := l.Commit(ctx, lsn); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); !errors.Is(err, ErrFailed) {
		t.Fatalf("close: %v", err)
	}
	l, all, _ := reopen(t, d, Options{}) // the same disk: frame 10 is read, though it may not be kept
	if len(all) != 11 {
		t.Fatalf("%d frames, want 11", len(all))
	}
	for seed := range uint64(50) {
		other, all, _ := reopen(t, d.Crash(seed), Options{})
		if len(all) != 11 {
			t.Fatalf("seed %d: %d frames, want 11", seed, len(all))
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTogether has many commit at once: they share fsyncs, and each stream is in order.
func TestTogether(t *testing.T) {
	const streams, each = 32, 60
	for _, mode := range []Mode{Always, Interval, Never} {
		d := faulty.New()
		o := Options{Sync: mode, Interval: time.Millisecond, SegmentSize: 16 << 10}
		l, err := Open(d, "d", o)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for s := range streams {
			all.Go(func() {
				for i := range each {
					lsn, err := l.Append(uint16(s), binary.LittleEndian.AppendUint32(nil, uint32(i)))
					if err == nil {
						err = l.Commit(ctx, lsn)
					}
					if err != nil {
						t.Error(err)
						return
					}
					if i%20 == 0 && l.Size() == 0 {
						t.Error("a log of no bytes")
					}
				}
			})
		}
		all.Wait()
		crashed := d.Crash(1)
		if mode != Always {
			crashed = d.Kill()
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, err = Open(crashed, "d", o)
		if err != nil {
			t.Fatal(err)
		}
		next := [streams]uint32{}
		if _, err := l.Replay(func(f Frame) error {
			if i := binary.LittleEndian.Uint32(f.Payload); i != next[f.Stream] {
				return fmt.Errorf("stream %d: %d, want %d", f.Stream, i, next[f.Stream])
			}
			next[f.Stream]++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for s, n := range next {
			if n != each {
				t.Fatalf("mode %d: stream %d has %d frames, want %d", mode, s, n, each)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInterval: what is appended is durable in the end, though nobody asks; and what goes wrong is told once.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faulty.New()
		var told []error
		o := Options{Sync: Interval, OnError: func(err error) { told = append(told, err) }}
		l, _, _ := reopen(t, d, o)
		appendOne := func(id int) {
			if _, err := l.Append(stream(id), payload(id)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		appendOne(0)
		other, all, _ := reopen(t, d.Crash(1), Options{})
		if len(all) != 1 {
			t.Fatalf("%d frames, want 1", len(all))
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		d.SetBudget(0)
		appendOne(1)
		if len(told) != 1 || !errors.Is(told[0], ErrFull) {
			t.Fatalf("told %v", told)
		}
		d.SetBudget(1 << 20)
		appendOne(2)
		other, all, _ = reopen(t, d.Crash(2), Options{})
		if len(all) != 3 {
			t.Fatalf("%d frames, want 3", len(all))
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		d.FailAt(faulty.Sync, 1, syscall.EIO)
		appendOne(3)
		if len(told) != 2 || !errors.Is(told[1], ErrFailed) {
			t.Fatalf("told %v", told)
		}
		if err := l.Close(); !errors.Is(err, ErrFailed) {
			t.Fatal(err)
		}
	})
}

// TestRelease: a log of which nothing is needed leaves no file, and the next one goes on with other numbers.
func TestRelease(t *testing.T) {
	d := faulty.New()
	o := Options{SegmentSize: minSegmentSize, First: 7}
	l, _, _ := reopen(t, d, o)
	for n := range 800 {
		if _, err := l.Append(stream(n), payload(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	size, last := l.Size(), l.Segment()
	if last < 10 {
		t.Fatalf("segment %d", last)
	}
	if err := l.Release(9); err != nil {
		t.Fatal(err)
	}
	_, err := d.Size(l.path(9))
	_, gone := d.Size(l.path(8))
	if err != nil || !isMissing(gone) || l.Size() >= size {
		t.Fatalf("released segments below 9: %v, %v, %d bytes of %d", err, gone, l.Size(), size)
	}
	if err := l.CloseEmpty(); err != nil {
		t.Fatal(err)
	}
	if list, err := d.ReadDir("d"); err != nil || len(list) > 0 || l.Size() != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := l.Append(1, nil); !errors.Is(err, ErrClosed) {
		t.Fatalf("append: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	o.First = last + 1
	l, _, _ = reopen(t, d, o)
	if _, err := l.Append(1, nil); err != nil || l.Segment() != last+1 {
		t.Fatalf("segment %d, %v", l.Segment(), err)
	}
	l.turn <- struct{}{}
	if err := l.Commit(cancelled, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("commit: %v", err)
	}
	<-l.turn
	if err := l.Commit(ctx, 2); err == nil {
		t.Fatal("a frame was committed that was not appended")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// What is reserved stays free, a frame that was refused for it stays, and there is room again once others gave some back.
func TestReserve(t *testing.T) {
	d := faulty.New()
	const budget, reserve = 1 << 20, 100 << 10
	d.SetBudget(budget)
	l, err := Open(d, "log", Options{Sync: Never, SegmentSize: 256 << 10, Reserve: reserve})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	frame := make([]byte, 10_000)
	n := 0
	for ; err == nil; n++ {
		var lsn LSN
		if lsn, err = l.Append(1, frame); err == nil {
			err = l.Commit(ctx, lsn)
		}
	}
	free, e := d.Free("log")
	if !errors.Is(err, ErrFull) || e != nil || free < reserve || free > reserve+int64(2*len(frame)) {
		t.Fatalf("after %d frames: %v; %d bytes are free, %v", n, err, free, e)
	}
	d.SetBudget(1 << 40)
	if err := l.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = Open(d, "log", Options{Sync: Never})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	if _, err := l.Replay(func(Frame) error { found++; return nil }); err != nil || found != n {
		t.Errorf("%d frames, want %d; %v", found, n, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
