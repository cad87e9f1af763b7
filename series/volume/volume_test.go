package volume

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"weir/series/disk"
)

var small = Options{Size: MinSize, Buffer: 2 * MaxNode, Reserve: -1}

func open(t testing.TB, fs disk.FS, dir string, o Options) *Volumes {
	t.Helper()
	v, err := Open(fs, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type node struct {
	at      Address
	length  int
	payload []byte
}

// random makes payloads of all sizes, the small ones more often.
func random(rnd *rand.Rand) []byte {
	p := make([]byte, 1+rnd.IntN(1<<(1+rnd.IntN(16))))
	for i := range p {
		p[i] = byte(rnd.Uint32())
	}
	return p
}

func check(t interface{ Fatalf(string, ...any) }, v *Volumes, nodes []node) {
	var buf []byte
	for _, n := range nodes {
		got, err := v.Read(buf, n.at, n.length)
		if n.at < v.Oldest() {
			if !errors.Is(err, ErrGone) {
				t.Fatalf("a node of a volume that was dropped: %v", err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, n.payload) {
			t.Fatalf("node at %x is %d bytes (%v), want %d", n.at, len(got), err, len(n.payload))
		}
	}
	i, done := 0, false
	for i < len(nodes) && nodes[i].at < v.Oldest() {
		i++
	}
	_, err := v.Scan(0, func(at Address, length int, payload []byte) error {
		if i == len(nodes) || nodes[i].at != at || nodes[i].length != length || !bytes.Equal(nodes[i].payload, payload) {
			t.Fatalf("scan finds another node at %x", at)
		}
		i++
		return nil
	}, func(e *CorruptError) { t.Fatalf("%v", e) })
	if done = i == len(nodes); err != nil || !done {
		t.Fatalf("scan found %d nodes of %d (%v)", i, len(nodes), err)
	}
}

// TestModel appends, reads, syncs, closes and opens.
func TestModel(t *testing.T) {
	base, run := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		dir, o := filepath.Join(base, fmt.Sprint(run)), small
		var recycled int
		o.Count = rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(t, "count")
		o.OnRecycle = func(Info) { recycled++ }
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		v, err := Open(disk.OS(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		var nodes []node
		var durable Address
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			for range rapid.IntRange(0, 100).Draw(t, "nodes") {
				p := random(rnd)
				at, length, err := v.Append(p)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(nodes); n > 0 && at < nodes[n-1].at+uint64(nodes[n-1].length) || at+uint64(length) != v.End() {
					t.Fatalf("node at %x, end %x", at, v.End())
				}
				nodes = append(nodes, node{at, length, p})
			}
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				err = v.Flush()
			case 1:
				durable, err = v.Sync()
			case 2:
				err = v.Close()
				if err == nil {
					v, err = Open(disk.OS(), dir, o)
				}
				if err == nil {
					var r Recovery
					if r, err = v.Recover(0, durable, nil, func(e *CorruptError) { t.Fatalf("%v", e) }); r.Reason != nil {
						t.Fatalf("cut: %+v", r)
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, v, nodes)
			if o.Count > 0 && len(v.List()) > o.Count {
				t.Fatalf("%d volumes in a ring of %d", len(v.List()), o.Count)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.Append([]byte{1}); !errors.Is(err, ErrClosed) {
			t.Fatalf("append after close: %v", err)
		}
	})
}

// fill appends n nodes and closes.
func fill(t testing.TB, dir string, n int) (nodes []node, durable Address) {
	v, rnd := open(t, disk.OS(), dir, small), rand.New(rand.NewPCG(1, 2))
	for range n {
		p := random(rnd)
		at, length, err := v.Append(p)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node{at, length, p})
	}
	durable, err := v.Sync()
	if err == nil {
		err = v.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return nodes, durable
}

// TestFlip flips bits and cuts the file: below durable exactly the nodes that were hit are missing and named, above it
// everything behind is.
func TestFlip(t *testing.T) {
	dir := t.TempDir()
	nodes, durable := fill(t, dir, 60)
	path := fileName(dir, 1)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 200 {
		hit := rnd.IntN(len(nodes))
		n := nodes[hit]
		if _, off := split(n.at); n.at>>offsetBits == 1 {
			flipped := bytes.Clone(whole)
			flipped[int(off)+rnd.IntN(n.length)] ^= 1 << rnd.IntN(8)
			if err := os.WriteFile(path, flipped, 0o666); err != nil {
				t.Fatal(err)
			}
		} else {
			continue
		}
		known := durable
		if i%10 == 9 {
			known = nodes[0].at
		}
		v := open(t, disk.OS(), dir, small)
		var found, damaged []Address
		r, err := v.Recover(0, known, func(at Address, _ int, p []byte) error {
			found = append(found, at)
			return nil
		}, func(e *CorruptError) {
			if e.Path != path {
				t.Errorf("damage in %s", e.Path)
			}
			damaged = append(damaged, address(1, e.Offset))
		})
		if err != nil {
			t.Fatal(err)
		}
		if known == durable {
			if len(found) != len(nodes)-1 || len(damaged) != 1 || damaged[0] != n.at || r.Reason != nil {
				t.Fatalf("node %d flipped: %d found, damage at %x, want %x; %+v", hit, len(found), damaged, n.at, r)
			}
			e := (*CorruptError)(nil)
			if _, err := v.Read(nil, n.at, n.length); !errors.As(err, &e) || e.Path != path {
				t.Fatalf("reading it: %v", err)
			}
		} else if len(found) != hit || r.Reason == nil || r.End != n.at {
			t.Fatalf("node %d flipped and not durable: %d found, %+v", hit, len(found), r)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if known != durable {
			break // the other volumes are gone
		}
	}
}

// TestLost loses the end of a file that was durable: what comes next gets addresses that never were in use.
func TestLost(t *testing.T) {
	dir := t.TempDir()
	nodes, durable := fill(t, dir, 20)
	last := nodes[len(nodes)-1]
	number, off := split(last.at)
	if err := os.Truncate(fileName(dir, number), off+1); err != nil {
		t.Fatal(err)
	}
	v := open(t, disk.OS(), dir, small)
	var damage int
	if _, err := v.Recover(0, durable, nil, func(*CorruptError) { damage++ }); err != nil || damage == 0 {
		t.Fatalf("%d damages (%v)", damage, err)
	}
	at, _, err := v.Append([]byte("next"))
	if err != nil || at < durable {
		t.Fatalf("next is at %x (%v), below %x", at, err, durable)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRace appends and reads everywhere at once.
func TestRace(t *testing.T) {
	v := open(t, disk.OS(), t.TempDir(), small)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 7))
			var nodes []node
			for i := range 100 {
				p := random(rnd)
				at, length, err := v.Append(p)
				if err != nil {
					t.Error(err)
					return
				}
				nodes = append(nodes, node{at, length, p})
				n := nodes[rnd.IntN(len(nodes))]
				if got, err := v.Read(nil, n.at, n.length); err != nil || !bytes.Equal(got, n.payload) {
					t.Errorf("node at %x: %v", n.at, err)
				}
				if i%40 == g {
					if _, err := v.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkAppend(b *testing.B) {
	v := open(b, disk.OS(), b.TempDir(), Options{Count: 2})
	p := make([]byte, 4096)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := v.Append(p); err != nil {
			b.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	v := open(b, disk.OS(), b.TempDir(), Options{})
	p := make([]byte, 4096)
	var at []Address
	for range 4096 {
		a, _, err := v.Append(p)
		if err != nil {
			b.Fatal(err)
		}
		at = append(at, a)
	}
	if err := v.Flush(); err != nil {
		b.Fatal(err)
	}
	buf, i := make([]byte, 5000), 0
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Read(buf, at[i*31%len(at)], len(p)+frameSize); err != nil {
			b.Fatal(err)
		}
		i++
	}
	if err := v.Close(); err != nil {
		b.Fatal(err)
	}
}

// FuzzScan reads volumes of any bytes.
func FuzzScan(f *testing.F) {
	frames := appendFrame(nil, address(1, headerSize), []byte("one"))
	frames = appendFrame(frames, address(1, headerSize+int64(len(frames))), []byte("two"))
	f.Add(frames)
	f.Add(frames[1:])
	f.Fuzz(func(t *testing.T, frames []byte) {
		dir := t.TempDir()
		page := header{number: 1, size: MinSize, created: time.Unix(0, 0)}.page()
		if err := os.WriteFile(fileName(dir, 1), append(page, frames...), 0o666); err != nil {
			t.Fatal(err)
		}
		v := open(t, disk.OS(), dir, small)
		var covered int
		if _, err := v.Recover(0, 0, func(_ Address, length int, _ []byte) error {
			covered += length
			return nil
		}, func(e *CorruptError) { covered += int(e.Length) }); err != nil {
			t.Fatal(err)
		}
		if covered != len(frames) {
			t.Fatalf("nodes and damage are %d bytes of %d", covered, len(frames))
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
