package timely

import (
	"cmp"
	"slices"
)

// changeBatch gathers changes to places, adding up those to the same place and time.
type changeBatch struct {
	list  []pointChange
	clean int // how many were left by the last compaction
}

// lookBack is among how many of the last changes one to the same place and time is looked for.
const lookBack = 4

// add notes a change.
func (b *changeBatch) add(c pointChange) {
	if c.delta == 0 {
		return
	}
	// What an operator receives and what it holds mostly concerns the same few times.
	for i := len(b.list) - 1; i >= max(0, len(b.list)-lookBack); i-- {
		if p := &b.list[i]; p.at == c.at && p.time == c.time {
			if p.delta += c.delta; p.delta == 0 {
				// What one operator sends the next takes, often in the same step.
				last := len(b.list) - 1
				*p = b.list[last]
				b.list = b.list[:last]
			}
			return
		}
	}
	b.list = append(b.list, c)
	if len(b.list) > 32 && len(b.list) > 2*b.clean {
		b.compact()
	}
}

// compact adds up changes to the same place and time, and drops those that come to
// nothing.
func (b *changeBatch) compact() {
	if len(b.list) > 1 {
		slices.SortFunc(b.list, func(c, d pointChange) int {
			if c.at != d.at {
				return cmp.Compare(c.at, d.at)
			}
			return c.time.Compare(d.time)
		})
	}
	kept := b.list[:0]
	for _, c := range b.list {
		if n := len(kept); n > 0 && kept[n-1].at == c.at && kept[n-1].time == c.time {
			kept[n-1].delta += c.delta
			continue
		}
		if n := len(kept); n > 0 && kept[n-1].delta == 0 {
			kept = kept[:n-1]
		}
		kept = append(kept, c)
	}
	if n := len(kept); n > 0 && kept[n-1].delta == 0 {
		kept = kept[:n-1]
	}
	b.list, b.clean = kept, len(kept)
}

// take hands out the net changes, which stay valid until the next add.
func (b *changeBatch) take() []pointChange {
	b.compact()
	list := b.list
	b.list, b.clean = b.list[:0], 0
	return list
}
