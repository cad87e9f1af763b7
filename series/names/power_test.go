package names

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"weir/series/disk"
	"weir/series/disk/faulty"
)

// history is what was done to a store on a disk that fails: the names of all IDs after each change.
type history struct {
	states          [][]string // states[0] is of no change; a state is not changed anymore
	flushed, synced int        // how many changes outlive the program, and the machine
}

func (h *history) last() []string { return h.states[len(h.states)-1] }
func (h *history) changes() int   { return len(h.states) - 1 }

// resume takes what was found for the state of the most changes that it can be of, of which there are at least some.
func (h *history) resume(t *rapid.T, found []string, least int, when string) {
	for n := h.changes(); n >= least; n-- {
		if slices.Equal(h.states[n], found) {
			h.states = h.states[:n+1]
			h.flushed, h.synced = n, n // Open makes durable what it finds
			return
		}
	}
	t.Fatalf("%s: found %d IDs %.300q, which is not what there was after %d to %d changes; the first of these: %d IDs %.300q", when, len(found), found, least, h.changes(), len(h.states[least]), h.states[least])
}

func namesOf(s *Store) []string {
	all := make([]string, s.Next())
	for i := range all {
		all[i] = s.Name(ID(i))
	}
	return all
}

// openFailing opens a store in spite of faults that are left.
func openFailing(t *rapid.T, d *faulty.Disk, when string) *Store {
	for range 20 {
		s, err := Open(context.Background(), d, "d/names")
		if err == nil {
			return s
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("%s: %v", when, err)
		}
	}
	t.Fatalf("%s: the store does not open though all faults are used up", when)
	return nil
}

// TestPower changes a store on a disk that fails, fills up and loses power again and again: what is found is always what
// there was after some of the changes, all those among them that Sync confirmed.
func TestPower(t *testing.T) { rapid.Check(t, power) }

func power(t *rapid.T) {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	d := faulty.New()
	h := &history{states: [][]string{nil}}
	for life := range rapid.IntRange(1, 8).Draw(t, "lives") {
		when := fmt.Sprintf("life %d", life)
		s := openFailing(t, d, when)
		h.resume(t, namesOf(s), h.flushed, when)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if !h.step(t, rnd, d, s) {
				break
			}
		}
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 0: // the same disk, with the faults that are left
			if err := s.Close(); err == nil {
				h.flushed = h.changes()
			} else if !expected(err) {
				t.Fatal(err)
			}
			d.SetBudget(math.MaxInt64)
		case 1:
			before := d
			d = d.Kill()
			_ = s.Close() // of the disk that is no more
			before.SetBudget(0)
		default:
			before := d
			d = d.Crash(rnd.Uint64())
			_ = s.Close()
			before.SetBudget(0)
			h.flushed = h.synced
		}
	}
	when := "at last"
	s := openFailing(t, d.Kill(), when)
	h.resume(t, namesOf(s), h.flushed, when)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func expected(err error) bool {
	return errors.Is(err, syscall.EIO) || disk.IsFull(err)
}

// step makes a change or has those made so far kept, or prepares a fault. It returns false once the store has to be
// opened again.
func (h *history) step(t *rapid.T, rnd *rand.Rand, d *faulty.Disk, s *Store) bool {
	now := h.last()
	var err error
	switch k := rnd.IntN(24); {
	case k < 11:
		name := fmt.Sprintf("m%d a=%d", rnd.IntN(3), rnd.IntN(40))
		if rnd.IntN(4) == 0 {
			name += " b=" + strings.Repeat("x", rnd.IntN(900)) // records of several sectors
		}
		var id ID
		var created bool
		if id, created, err = s.Add([]byte(name)); err == nil && created {
			if int(id) != len(now) {
				t.Fatalf("%q has ID %d, want %d", name, id, len(now))
			}
			h.states = append(h.states, append(slices.Clone(now), s.Name(id)))
		} else if err == nil && now[id] != s.Name(id) {
			t.Fatalf("ID %d is called %q, want %q", id, s.Name(id), now[id])
		}
	case k < 13 && len(now) > 0:
		ids := []ID{ID(rnd.IntN(len(now))), ID(rnd.IntN(len(now)))}
		n := 0
		if n, err = s.Delete(ids...); err == nil && n > 0 {
			next := slices.Clone(now)
			next[ids[0]], next[ids[1]] = "", ""
			h.states = append(h.states, next)
		}
	case k < 14:
		upto := max(0, len(now)+rnd.IntN(8)-3)
		if err = s.Reserve(ID(upto)); err == nil && upto > len(now) {
			h.states = append(h.states, append(slices.Clone(now), make([]string, upto-len(now))...))
		}
	case k < 16:
		if err = s.Flush(); err == nil {
			h.flushed = h.changes()
		}
	case k < 18:
		if err = s.Sync(); err == nil {
			h.flushed, h.synced = h.changes(), h.changes()
		}
	case k < 20:
		if err = s.Compact(t.Context()); err == nil {
			h.flushed, h.synced = h.changes(), h.changes()
		}
	case k < 21:
		free, _ := d.Free("") // never fails
		used := math.MaxInt64 - free
		d.SetBudget([]int64{math.MaxInt64, used + int64(rnd.IntN(2000))}[rnd.IntN(2)])
		if rnd.IntN(2) == 0 {
			d.SetBudget(math.MaxInt64)
		}
	default:
		op := []faulty.Op{faulty.Sync, faulty.Write, faulty.SyncDir, faulty.Rename, faulty.Remove, faulty.Truncate, faulty.Open}[rnd.IntN(7)]
		d.FailAt(op, 1+rnd.IntN(2), syscall.EIO)
	}
	if err != nil && !expected(err) {
		t.Fatal(err)
	}
	return s.failed == nil || rnd.IntN(3) > 0 // a store that failed refuses until it is compacted
}
