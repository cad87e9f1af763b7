package volume

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"weir/series/disk/faulty"
)

// TestPower loses power again and again: what was synced is there, and of what was not, a prefix.
func TestPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rnd := rand.New(rand.NewPCG(seed, 1))
		d := faulty.New()
		var nodes []node
		var durable Address
		for range rapid.IntRange(1, 6).Draw(t, "crashes") {
			v, err := Open(d, "d", small)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			var recovered uint64
			_, err = v.Recover(0, max(durable, 1), func(at Address, length int, p []byte) error {
				if i == len(nodes) || nodes[i].at != at || !bytes.Equal(nodes[i].payload, p) {
					t.Fatalf("another node at %x", at)
				}
				i++
				recovered = at + uint64(length)
				return nil
			}, func(e *CorruptError) { t.Fatalf("%v", e) })
			if err != nil {
				t.Fatal(err)
			}
			if recovered < durable && i < len(nodes) {
				t.Fatalf("recovered up to %x, and %x was durable", recovered, durable)
			}
			nodes = nodes[:i]
			for range rapid.IntRange(0, 60).Draw(t, "nodes") {
				p := random(rnd)
				at, length, err := v.Append(p)
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, node{at, length, p})
				switch rnd.IntN(20) {
				case 0:
					durable, err = v.Sync()
				case 1:
					err = v.Flush()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if rapid.Bool().Draw(t, "kill") {
				d = d.Kill()
			} else {
				d = d.Crash(rnd.Uint64())
			}
		}
	})
}

// TestFull: on a full disk appending is refused, everything that was accepted is read, and it goes on by itself.
func TestFull(t *testing.T) {
	for _, reserve := range []int64{-1, 300 << 10} {
		d, o, rnd := faulty.New(), small, rand.New(rand.NewPCG(1, 9))
		o.Reserve = reserve
		v := open(t, d, "d", o)
		var nodes []node
		add := func() error {
			p := random(rnd)
			at, length, err := v.Append(p)
			if err == nil {
				nodes = append(nodes, node{at, length, p})
			}
			return err
		}
		for budget := int64(200 << 10); budget < 4<<20; budget += 777 << 10 {
			d.SetBudget(budget)
			var err error
			for err == nil {
				err = add()
			}
			if !errors.Is(err, ErrFull) {
				t.Fatalf("a full disk: %v", err)
			}
			for _, n := range nodes {
				if got, err := v.Read(nil, n.at, n.length); err != nil || !bytes.Equal(got, n.payload) {
					t.Fatalf("node at %x while the disk is full: %v", n.at, err)
				}
			}
		}
		d.SetBudget(100 << 20)
		d.FailAt(faulty.Write, 2, syscall.EIO)
		for range 100 {
			if err := add(); err != nil && !errors.Is(err, syscall.EIO) {
				t.Fatal(err)
			}
		}
		check(t, v, nodes)
		d.FailAt(faulty.Sync, 1, syscall.EIO)
		if err := add(); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("sync: %v", err)
		}
		if err := add(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("append after a sync that failed: %v", err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		v = open(t, d.Kill(), "d", o)
		if _, err := v.Recover(0, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
		check(t, v, nodes)
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGone drops volumes.
func TestGone(t *testing.T) {
	v, rnd := open(t, faulty.New(), "d", small), rand.New(rand.NewPCG(2, 2))
	var nodes []node
	for len(v.List()) < 4 {
		p := random(rnd)
		at, length, err := v.Append(p)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node{at, length, p})
	}
	if err := errors.Join(v.Drop(1), v.Drop(2)); err != nil {
		t.Fatal(err)
	}
	if err := v.Drop(1); !errors.Is(err, ErrGone) {
		t.Errorf("drop twice: %v", err)
	}
	if err := v.Drop(4); err == nil {
		t.Error("the last volume was dropped")
	}
	check(t, v, nodes)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}
