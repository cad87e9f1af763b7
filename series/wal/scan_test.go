package wal

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"weir/series/disk/faulty"
)

// Behind damage everything good is read, and where it is asked for, Replay goes on.
func TestDamaged(t *testing.T) {
	d := faulty.New()
	l, _, _ := reopen(t, d, Options{SegmentSize: minSegmentSize})
	var all []int
	for n := 0; l.Segment() < 3; n++ {
		lsn, err := l.Append(stream(n), payload(n))
		if err == nil {
			err = l.Commit(ctx, lsn)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(fn func(func(Frame) error, func(*CorruptError)) (Recovery, error)) (ids []int, places []*CorruptError, rec Recovery) {
		t.Helper()
		rec, err := fn(func(f Frame) error {
			ids = append(ids, int(binary.LittleEndian.Uint64(f.Payload)))
			return nil
		}, func(e *CorruptError) { places = append(places, e) })
		if err != nil {
			t.Fatal(err)
		}
		return ids, places, rec
	}
	stride := int64(29)
	if testing.Short() {
		stride = 97 // each flip opens a log; the race detector finds nothing in one goroutine
	}
	for number := uint32(1); number <= 3; number++ {
		size, err := d.Size(l.path(number))
		if err != nil {
			t.Fatal(err)
		}
		for off := int64(0); off < size; off += 1 + off%stride {
			c := d.Kill()
			if err := c.Flip(l.path(number), off, byte(1+off%255)); err != nil {
				t.Fatal(err)
			}
			before := c.Counts().Ops[faulty.Write]
			scanned, places, rec := read(func(fn func(Frame) error, damaged func(*CorruptError)) (Recovery, error) {
				return Scan(c, "d", fn, damaged)
			})
			if after := c.Counts().Ops[faulty.Write]; after != before {
				t.Fatalf("%d writes of a scan", after-before)
			}
			if missing := len(all) - len(scanned); missing > 1 || !subset(scanned, all) || len(places) == 0 && rec.Cut == 0 {
				t.Fatalf("byte %d of segment %d: %d frames are missing; %v, %+v", off, number, missing, places, rec)
			}
			o := Options{SegmentSize: minSegmentSize}
			var again *Log
			replayed, _, _ := read(func(fn func(Frame) error, damaged func(*CorruptError)) (Recovery, error) {
				o.Damaged = damaged
				var err error
				if again, err = Open(c, "d", o); err != nil {
					t.Fatal(err)
				}
				return again.Replay(fn)
			})
			if !slices.Equal(replayed, scanned) {
				t.Fatalf("byte %d of segment %d: replayed %d frames, scanned %d", off, number, len(replayed), len(scanned))
			}
			// What is appended now is found behind it.
			if _, err := again.Append(0, binary.LittleEndian.AppendUint64(nil, 1<<30)); err != nil {
				t.Fatal(err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			scanned, _, _ = read(func(fn func(Frame) error, damaged func(*CorruptError)) (Recovery, error) {
				return Scan(c, "d", fn, damaged)
			})
			if !slices.Equal(scanned, append(replayed, 1<<30)) {
				t.Fatalf("byte %d of segment %d: %d frames, and %d after one more", off, number, len(replayed), len(scanned))
			}
		}
	}
}

// subset reports whether some are among all, in the same order.
func subset(some, all []int) bool {
	for _, x := range some {
		i := slices.Index(all, x)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

// What frames refer to is durable before they are, or nobody is told that they are.
func TestBeforeSync(t *testing.T) {
	for _, mode := range []Mode{Always, Never} {
		d := faulty.New()
		var fail error
		calls := 0
		l, _, _ := reopen(t, d, Options{Sync: mode, SegmentSize: minSegmentSize, BeforeSync: func() error { calls++; return fail }})
		add := func(n int) error {
			lsn, err := l.Append(stream(n), payload(n))
			if err != nil {
				t.Fatal(err)
			}
			if mode == Always {
				return l.Commit(ctx, lsn)
			}
			return l.Sync(ctx)
		}
		if err := add(0); err != nil || calls == 0 {
			t.Fatalf("%d calls, %v", calls, err)
		}
		fail = errors.New("not now")
		if err := add(1); !errors.Is(err, fail) {
			t.Fatal(err)
		}
		for n := 2; n < 300; n++ { // more than a segment: it may not be left behind unsynced
			_, _ = l.Append(stream(n), payload(n))
		}
		if err := l.Sync(ctx); !errors.Is(err, fail) {
			t.Fatal(err)
		}
		fail = nil
		if err := l.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		c := d.Crash(1)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, all, _ := reopen(t, c, Options{SegmentSize: minSegmentSize})
		if len(all) != 300 {
			t.Errorf("%d frames are durable", len(all))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
