// Package arena keeps many small blocks of bytes, such as the open leaves of a million series, where the garbage
// collector neither looks at them nor counts them: what is in use is what the process takes, not twice that.
//
// A block is named by a Handle of 32 bits. Blocks come in classes, four to each doubling of the size, so that what is
// put into the smallest class that holds it wastes a tenth of the block; whoever holds a handle knows its class. Memory
// is given to classes in chunks, and a chunk in which no block is left can go to another class: thousands of blocks that
// grow together leave nothing behind in the classes they grew out of. Memory goes back to the system when the arena is
// freed.
package arena

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// A Handle names a block. None is that of no block.
type Handle uint32

// None is the handle of no block.
const None Handle = 0

// The classes of blocks, from MinBlock to MaxBlock bytes.
const (
	MinBlock = 64
	MaxBlock = chunkBytes
	PerTwice = 4 // classes to a doubling of the size
	Classes  = PerTwice*10 + 1
)

const (
	slabBytes  = 1 << 20
	chunkBytes = 64 << 10
	chunkShift = 12 // of handles: so many bits are a place in a chunk, in units
	unit       = chunkBytes >> chunkShift
	perSlab    = slabBytes / chunkBytes
	mostChunks = 1 << (32 - chunkShift)
)

// Class is the smallest class whose blocks have n bytes.
func Class(n int) int {
	if n <= MinBlock {
		return 0
	}
	twice := bits.Len(uint(n-1)/MinBlock) - 1
	below := MinBlock << twice // less than n, which is at most twice as much
	return PerTwice*twice + (n-below+below/PerTwice-1)/(below/PerTwice)
}

// Size is the number of bytes of a block of a class.
func Size(class int) int {
	return MinBlock / PerTwice * (PerTwice + class%PerTwice) << (class / PerTwice)
}

// Arena holds blocks. The zero value is empty and ready. It is not safe for concurrent use.
type Arena struct {
	slabs  [][]byte
	kept   [][]byte // by Keep
	chunks []chunk
	room   [Classes]list // the chunks of each class in which there is room
	unused list          // the chunks of no class
	live   int
}

// chunk is blocks of one class.
type chunk struct {
	next, prev list
	free       uint16 // the first block that was given back, as place; each begins with the place of the next
	fresh      uint16 // how many blocks were given out at least once
	live       uint16 // blocks in use
	class      uint8
}

// list is a list of chunks: the number of the first one and 1, or 0 if it is empty.
type list uint32

// noPlace ends the list of blocks of a chunk.
const noPlace = 1<<16 - 1

// Bytes is how much memory the blocks in use take.
func (a *Arena) Bytes() int { return a.live }

// Mapped is how much memory the arena has taken from the system.
func (a *Arena) Mapped() int { return (len(a.slabs) + len(a.kept)) * slabBytes }

// Keep returns a MiB that is no block, for what is there until Release. It is zero, and what was never written to takes
// no memory.
func (a *Arena) Keep() ([]byte, error) {
	slab, err := mapSlab()
	if err != nil {
		return nil, fmt.Errorf("no memory for another MiB: %w", err)
	}
	a.kept = append(a.kept, slab)
	return slab, nil
}

// Alloc returns a block of a class. What is in it is undefined.
func (a *Arena) Alloc(class int) (Handle, error) {
	size := Size(class)
	if a.room[class] == 0 {
		if a.unused == 0 {
			if err := a.grow(); err != nil {
				return None, err
			}
		}
		l := a.unused
		a.take(&a.unused, l)
		c := &a.chunks[l-1]
		c.class, c.free, c.fresh = uint8(class), noPlace, 0
		a.put(&a.room[class], l)
	}
	l := a.room[class]
	c := &a.chunks[l-1]
	var h Handle
	if c.free == noPlace {
		h = Handle((int(l)-1)<<chunkShift + int(c.fresh)*(size/unit) + 1)
		c.fresh++
	} else {
		h = Handle((int(l)-1)<<chunkShift + int(c.free) + 1)
		c.free = binary.LittleEndian.Uint16(a.Get(h, class))
	}
	c.live++
	if int(c.live) == chunkBytes/size {
		a.take(&a.room[class], l)
	}
	a.live += size
	return h, nil
}

// put puts a chunk in front of a list.
func (a *Arena) put(to *list, l list) {
	c := &a.chunks[l-1]
	c.next, c.prev = *to, 0
	if c.next != 0 {
		a.chunks[c.next-1].prev = l
	}
	*to = l
}

// take takes a chunk out of a list.
func (a *Arena) take(from *list, l list) {
	c := &a.chunks[l-1]
	if c.next != 0 {
		a.chunks[c.next-1].prev = c.prev
	}
	if c.prev != 0 {
		a.chunks[c.prev-1].next = c.next
	} else {
		*from = c.next
	}
}

// grow takes a slab from the system.
func (a *Arena) grow() error {
	if len(a.chunks) == mostChunks {
		return errors.New("no room for another MiB of open leaves: there are 64 GiB of them")
	}
	slab, err := mapSlab()
	if err != nil {
		return fmt.Errorf("no memory for another MiB of open leaves: %w", err)
	}
	a.slabs = append(a.slabs, slab)
	a.chunks = append(a.chunks, make([]chunk, perSlab)...)
	for l := len(a.chunks); l > len(a.chunks)-perSlab; l-- {
		a.put(&a.unused, list(l))
	}
	return nil
}

// Free gives a block of a class back. None is no block and may be freed.
func (a *Arena) Free(h Handle, class int) {
	if h == None {
		return
	}
	a.live -= Size(class)
	l := list((h-1)>>chunkShift + 1)
	c := &a.chunks[l-1]
	if int(c.live) == chunkBytes/Size(class) {
		a.put(&a.room[class], l)
	}
	c.live--
	if c.live == 0 {
		a.take(&a.room[class], l)
		a.put(&a.unused, l)
		return
	}
	binary.LittleEndian.PutUint16(a.Get(h, class), c.free)
	c.free = uint16((h - 1) & (1<<chunkShift - 1))
}

// Get is the bytes of a block of a class. They are valid until the block is freed.
func (a *Arena) Get(h Handle, class int) []byte {
	i := int(h - 1)
	at := i % (slabBytes / unit) * unit
	end := at + Size(class)
	return a.slabs[i/(slabBytes/unit)][at:end:end]
}

// Release gives all memory back to the system. No block may be used afterwards, and the arena is empty.
func (a *Arena) Release() error {
	var first error
	for _, slab := range slices.Concat(a.slabs, a.kept) {
		if err := unmapSlab(slab); err != nil && first == nil {
			first = err
		}
	}
	*a = Arena{}
	return first
}

// View is a block of a class as a slice of elements that hold no pointers.
func View[T any](a *Arena, h Handle, class int) []T {
	b := a.Get(h, class)
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}
