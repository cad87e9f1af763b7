// Package arena keeps many small blocks of bytes, such as the open leaves of a million series, where the garbage
// collector neither looks at them nor counts them: what is in use is what the process takes, not twice that.
//
// A block is named by a Handle of 32 bits. Blocks come in classes, each twice the size of the one before; whoever
// holds a handle knows its class. Memory goes back to the system when the arena is freed.
package arena

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// A Handle names a block. None is that of no block.
type Handle uint32

// None is the handle of no block.
const None Handle = 0

// The classes of blocks: class c has MinBlock<<c bytes.
const (
	MinBlock = 64
	Classes  = 11 // up to 64 KiB
)

const (
	slabBytes = 1 << 20
	perSlab   = slabBytes / MinBlock
)

// Class is the smallest class whose blocks have n bytes.
func Class(n int) int {
	if n <= MinBlock {
		return 0
	}
	return bits.Len(uint(n-1) / MinBlock)
}

// Size is the number of bytes of a block of a class.
func Size(class int) int { return MinBlock << class }

// Arena holds blocks. The zero value is empty and ready. It is not safe for concurrent use.
type Arena struct {
	slabs [][]byte
	used  int             // bytes of the last slab that were given out
	free  [Classes]Handle // of each class a list of free blocks, each of which begins with the handle of the next
	live  int
}

// Bytes is how much memory the blocks in use take.
func (a *Arena) Bytes() int { return a.live }

// Mapped is how much memory the arena has taken from the system.
func (a *Arena) Mapped() int { return len(a.slabs) * slabBytes }

// Alloc returns a block of a class. What is in it is undefined.
func (a *Arena) Alloc(class int) (Handle, error) {
	a.live += Size(class)
	for c := class; c < Classes; c++ {
		if a.free[c] == None {
			continue
		}
		h := a.free[c]
		a.free[c] = *a.next(h)
		a.split(h, c, class)
		return h, nil
	}
	if len(a.slabs) == 0 || a.used+Size(class) > slabBytes {
		if err := a.grow(); err != nil {
			a.live -= Size(class)
			return None, err
		}
	}
	// The handle of the first block of all is not 0.
	h := Handle((len(a.slabs)-1)*perSlab + a.used/MinBlock + 1)
	a.used += Size(class)
	return h, nil
}

// split gives back all of a block of class c but its beginning of a class below.
func (a *Arena) split(h Handle, c, class int) {
	for c > class {
		c--
		a.list(h+Handle(Size(c)/MinBlock), c)
	}
}

func (a *Arena) list(h Handle, class int) {
	*a.next(h) = a.free[class]
	a.free[class] = h
}

// grow takes a slab from the system, after the rest of the last one was put into the lists.
func (a *Arena) grow() error {
	if len(a.slabs) > 0 {
		for a.used < slabBytes {
			// The blocks of a class begin at multiples of its size only where larger ones are left over.
			class := min(bits.Len(uint(slabBytes-a.used)/MinBlock)-1, Classes-1)
			a.list(Handle((len(a.slabs)-1)*perSlab+a.used/MinBlock+1), class)
			a.used += Size(class)
		}
	}
	slab, err := mapSlab()
	if err != nil {
		return fmt.Errorf("no memory for another MiB of open leaves: %w", err)
	}
	a.slabs = append(a.slabs, slab)
	a.used = 0
	return nil
}

// Free gives a block of a class back. None is no block and may be freed.
func (a *Arena) Free(h Handle, class int) {
	if h == None {
		return
	}
	a.live -= Size(class)
	a.list(h, class)
}

// Get is the bytes of a block of a class. They are valid until the block is freed.
func (a *Arena) Get(h Handle, class int) []byte {
	i := int(h - 1)
	at := i % perSlab * MinBlock
	return a.slabs[i/perSlab][at : at+Size(class) : at+Size(class)]
}

func (a *Arena) next(h Handle) *Handle {
	return (*Handle)(unsafe.Pointer(unsafe.SliceData(a.Get(h, 0))))
}

// Release gives all memory back to the system. No block may be used afterwards, and the arena is empty.
func (a *Arena) Release() error {
	var first error
	for _, slab := range a.slabs {
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
