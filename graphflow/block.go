package graphflow

// update adds value to what a vertex gets in this iteration. The vertex is given by its number at
// the worker that owns it.
type update struct {
	local uint32
	value float32
}

// updateBytes is the size of an update, in memory and on its way.
const updateBytes = 8

// block is updates for vertices of one worker, all in one range of partSize
// vertices, ascending. To is the worker and part the range.
type block struct {
	to, part uint32
	updates  []update
}

const (
	// partSize is how many vertices of a worker a block is for at most: few enough that their sums stay in
	// the first-level cache, as many as make blocks worth sending.
	partSize = 4096
	// sliceEdges is about how many edges a worker sums up before it looks for messages
	// and hands over what it has.
	sliceEdges = 1 << 16
	// freeBlocks is how many blocks a worker keeps for use again.
	freeBlocks = 256
)

// pool is the blocks that a worker took and will fill again: about as many come as go.
type pool struct{ free [][]update }

// take returns an empty block with room for n updates, or for a range. One that leaves the process
// does not come back, and so is made as small as it can be.
func (p *pool) take(n int, leaves bool) []update {
	if leaves {
		return make([]update, 0, min(n, partSize))
	}
	if n := len(p.free) - 1; n >= 0 {
		b := p.free[n]
		p.free = p.free[:n]
		return b
	}
	return make([]update, 0, partSize)
}

func (p *pool) put(b []update) {
	if cap(b) >= partSize && len(p.free) < freeBlocks {
		p.free = append(p.free, b[:0])
	}
}

// divider divides by the number of workers, by a multiplication.
type divider struct{ n, inverse uint64 }

func newDivider(n int) divider {
	// The inverse is 2^64/n, rounded up; below 2^32 the quotient is exact.
	return divider{uint64(n), ^uint64(0)/uint64(n) + 1}
}
