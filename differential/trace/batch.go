package trace

import (
	"fmt"
	"unsafe"

	"weir/timely"
)

// Batch is the changes of an interval of times: those at or after Lower and not at or after Upper.
// (Compaction may since have moved times of its edits on, to ones that no reader can tell from the
// original ones.) It never changes; its blocks may be shared with other batches.
type Batch struct {
	blocks       []*Block
	lasts        []uint64 // last key of each block
	lower, upper timely.Antichain
	edits        int
	values       int
	bytes        int
}

// Blocks is the blocks, in ascending order of (key, value); none for an empty batch.
// The slice belongs to the batch.
func (b *Batch) Blocks() []*Block { return b.blocks }

// Lower is the frontier that the batch begins at. It belongs to the batch.
func (b *Batch) Lower() timely.Antichain { return b.lower }

// Upper is the frontier that the batch ends before. It belongs to the batch.
func (b *Batch) Upper() timely.Antichain { return b.upper }

// Len is the number of edits.
func (b *Batch) Len() int { return b.edits }

// Bytes is the memory that the batch takes, counting blocks that it shares with others.
func (b *Batch) Bytes() int { return b.bytes }

// SeekBlock is the first i ≥ from of which block i has a key at or after key, or the number of blocks.
func (b *Batch) SeekBlock(from int, key uint64) int { return seek(b.lasts, from, key) }

const batchBytes = int(unsafe.Sizeof(Batch{}))

// OverflowError says that the weights of a value at a time do not add up to an int64.
type OverflowError struct {
	Key, Val uint64
	Time     timely.Time
	A, B     int64 // the summands
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("add up weights of value %#x of key %#x at %v: %d + %d does not fit 64 bits",
		e.Val, e.Key, e.Time, e.A, e.B)
}

// add is a + b, and whether that is it.
func add(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}
