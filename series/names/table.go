package names

import "sync/atomic"

const (
	firstSlots = 64
	gone       = 1<<32 - 1 // in the place of a number: its name was deleted
)

// table finds numbers by hash: open addressing with linear probes in one
// slice without pointers. A slot is the hash's 32 bits above the number plus one, so
// that growing needs no names and few probes look at one. The writer changes
// slots one by one, and replaces the slice to grow; readers wait for neither.
type table struct {
	slots atomic.Pointer[[]atomic.Uint64]
	used  int // slots that are not empty; the writer's
	dead  int // of these, without a name
}

// first is the slot that a hash begins to probe at.
func first(hash uint32, slots int) int { return int(uint64(hash) * uint64(slots) >> 32) }

// find returns the number with the given hash for which same holds.
func (t *table) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	p := t.slots.Load()
	if p == nil {
		return 0, false
	}
	slots := *p
	for i := first(hash, len(slots)); ; {
		slot := slots[i].Load()
		if slot == 0 {
			return 0, false
		}
		if uint32(slot>>32) == hash && uint32(slot) != gone && same(uint32(slot)-1) {
			return uint32(slot) - 1, true
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// insert adds a number that is not there.
func (t *table) insert(hash, number uint32) {
	p := t.slots.Load()
	if p == nil || (t.used+1)*20 > len(*p)*17 {
		p = t.grow(p)
	}
	place(*p, uint64(hash)<<32|uint64(number+1))
	t.used++
}

func place(slots []atomic.Uint64, slot uint64) {
	i := first(uint32(slot>>32), len(slots))
	for slots[i].Load() != 0 {
		if i++; i == len(slots) {
			i = 0
		}
	}
	slots[i].Store(slot)
}

// grow makes room for half as many again, and leaves behind what is gone.
func (t *table) grow(old *[]atomic.Uint64) *[]atomic.Uint64 {
	slots := make([]atomic.Uint64, max(firstSlots, (t.used-t.dead)*7/4))
	if old != nil {
		for i := range *old {
			if slot := (*old)[i].Load(); slot != 0 && uint32(slot) != gone {
				place(slots, slot)
			}
		}
	}
	t.used -= t.dead
	t.dead = 0
	t.slots.Store(&slots)
	return &slots
}

// remove takes out a number that is there.
func (t *table) remove(hash, number uint32) {
	slots := *t.slots.Load()
	for i := first(hash, len(slots)); ; {
		if slots[i].Load() == uint64(hash)<<32|uint64(number+1) {
			slots[i].Store(uint64(hash)<<32 | gone)
			t.dead++
			return
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

func (t *table) bytes() int {
	if p := t.slots.Load(); p != nil {
		return len(*p) * 8
	}
	return 0
}
