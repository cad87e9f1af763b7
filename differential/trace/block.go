package trace

import (
	"unsafe"

	"weir/timely"
)

// blockTarget is how many values a block made of new data has, and blockMax how
// many one may grow to when merges add to it. Together they bound the longest
// step of a merge, which is to copy a block. Tests make them small.
var (
	blockTarget = 1 << 13
	blockMax    = 1 << 14
)

// Edit is a change to the weight of a value. Time is an index into the block's [Block.Times].
type Edit struct {
	Diff int64
	Time uint32
}

// Block is a sorted run of changes in columns: distinct ascending keys, for each key
// ascending values, for each value edits at distinct ascending times. It is never empty and never
// changes. A key with many values goes on in the next block, as its first key; the edits of a value
// are all in one block.
//
// The edits of a block have one of three forms. Where all values have the same edits,
// as in a loaded graph, those are stored once. Where few lists of edits are different, as among the rounds of a loop,
// each is stored once, and a byte a value tells which. Otherwise each value has a list.
type Block struct {
	keys   []uint64
	starts []uint32 // of the values of each key, and their number at the end
	vals   []uint64
	codes  []uint8  // nil, or the number of each value's list
	from   []uint32 // starts of lists, by number or else by value, and the end; nil if there is one list
	edits  []Edit
	times  []timely.Time
	count  int // edits of all values
}

// Keys is the keys, ascending.
func (b *Block) Keys() []uint64 { return b.keys }

// Values is the range of key i's values in [Block.Vals].
func (b *Block) Values(i int) (lo, hi int) { return int(b.starts[i]), int(b.starts[i+1]) }

// Vals is the values of all keys, in the order of keys; those of a key ascend.
func (b *Block) Vals() []uint64 { return b.vals }

// Edits is the edits of value position j, at ascending times; there is at least one, and no weight is 0.
func (b *Block) Edits(j int) []Edit {
	if b.codes != nil {
		j = int(b.codes[j])
	}
	if b.from == nil {
		return b.edits
	}
	return b.edits[b.from[j]:b.from[j+1]]
}

// Times is the distinct times of the edits, and perhaps others, in lexicographic order.
func (b *Block) Times() []timely.Time { return b.times }

// Len is the number of edits.
func (b *Block) Len() int { return b.count }

// last is the last key.
func (b *Block) last() uint64 { return b.keys[len(b.keys)-1] }

// bytes is the memory that b takes.
func (b *Block) bytes() int {
	return int(unsafe.Sizeof(*b)) + 8*(len(b.keys)+len(b.vals)) + 4*(len(b.starts)+len(b.from)) + len(b.codes) +
		int(unsafe.Sizeof(Edit{}))*len(b.edits) + int(unsafe.Sizeof(timely.Time{}))*len(b.times)
}

// Seek is the first i ≥ from with Keys()[i] ≥ key, or the number of keys.
func (b *Block) Seek(from int, key uint64) int { return seek(b.keys, from, key) }

// seek looks nearby first. Then it guesses where key is if keys are spread evenly, as
// dense integers are, and gallops from there: a guess that is off by d costs log d.
func seek(keys []uint64, from int, key uint64) int {
	const near = 4
	if from >= len(keys) {
		return len(keys)
	}
	head := keys[from:]
	for i := range head {
		if head[i] >= key {
			return from + i
		}
		if i == near {
			break
		}
	}
	if len(head) <= near+1 {
		return len(keys)
	}
	lo, hi := from+near, len(keys)-1 // keys[lo] < key
	if keys[hi] < key {
		return len(keys)
	}
	// keys[lo] < key ≤ keys[hi] from here on.
	guess := lo + int(float64(key-keys[lo])/float64(keys[hi]-keys[lo])*float64(hi-lo))
	guess = min(max(guess, lo), hi)
	if keys[guess] < key {
		lo = guess
		for step := 1; lo+step < hi; step *= 2 {
			if keys[lo+step] >= key {
				hi = lo + step
				break
			}
			lo += step
		}
	} else {
		hi = guess
		for step := 1; hi-step > lo; step *= 2 {
			if keys[hi-step] < key {
				lo = hi - step
				break
			}
			hi -= step
		}
	}
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if keys[mid] < key {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
