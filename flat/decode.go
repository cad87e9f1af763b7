package flat

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// decoder reads one frame, in two passes: check looks at every length and
// boolean and counts the elements that need memory of their own; items, which
// cannot fail, fills that memory. Both find their way by the same lengths.
// Slices of b are checked again in the second pass, by the compiler's own
// checks, so that even a frame that is changed meanwhile (which is not allowed)
// leads to no access outside it.
type decoder struct {
	b      []byte
	arenas []arena // of pooled
	pooled *arenas
}

// arena is the memory for all elements of one type that is not flat and that
// slices or pointers refer to.
type arena struct {
	size  int
	count int            // elements in the frame
	used  int            // elements handed out
	data  unsafe.Pointer // of count elements
	maker reflect.Value  // an empty slice of the type, which is grown to get them
}

type arenas struct{ list []arena }

func newArenas(owned []*plan) *arenas {
	a := &arenas{make([]arena, len(owned))}
	for i, p := range owned {
		a.list[i] = arena{size: p.size, maker: reflect.New(reflect.SliceOf(p.typ)).Elem()}
	}
	return a
}

// open checks the frame that src begins with, which becomes d.b, and makes
// memory for what its elements refer to. It returns the number of elements, or
// -1 for a nil slice. After an error d.b is empty. d must be closed in any
// case.
func (d *decoder) open(p *plan, src []byte, align int) (n int, err error) {
	frame, count, err := p.open(src, align)
	if err != nil {
		return 0, err
	}
	if count == nilLength {
		if len(frame) != headerSize {
			return 0, corrupt(frame, headerSize, "bytes behind a nil slice")
		}
		d.b = frame
		return -1, nil
	}
	if len(p.owned) > 0 {
		d.pooled = p.arenas.Get().(*arenas)
		d.arenas = d.pooled.list
	}
	d.b = frame
	end, err := d.check(p, count, headerSize)
	if err == nil && roundUp(end, frameAlign) != len(frame) {
		err = corrupt(frame, end, "the elements end here, the frame does not")
	}
	if err == nil {
		err = d.reserve()
	}
	if err != nil {
		d.b = nil
		return 0, err
	}
	return int(count), nil // less than len(frame), as check has found
}

// close lets go of the arenas' memory, which is the result's now, and keeps the
// rest for the next frame.
func (d *decoder) close(p *plan) {
	if d.pooled == nil {
		return
	}
	for i := range d.arenas {
		a := &d.arenas[i]
		a.count, a.used, a.data = 0, 0, nil
	}
	p.arenas.Put(d.pooled)
}

// fill decodes the frame's n elements to base, which is zeroed.
func (d *decoder) fill(p *plan, base unsafe.Pointer, n int) {
	d.items(p, base, n, headerSize, headerSize+n*p.fixed)
}

// reserve allocates what check has counted. All of it has taken at least 8
// bytes of the frame for each 24 of memory.
func (d *decoder) reserve() error {
	for i := range d.arenas {
		a := &d.arenas[i]
		if a.count == 0 {
			continue
		}
		if a.count > math.MaxInt/a.size {
			return fmt.Errorf("%w: %d elements of %d bytes are more than this machine can address", ErrCorrupt, a.count, a.size)
		}
		a.maker.Grow(a.count)
		a.data = a.maker.UnsafePointer()
		a.maker.SetZero()
	}
	return nil
}

// take returns memory for n > 0 more elements.
func (a *arena) take(n int) unsafe.Pointer {
	if n > a.count-a.used {
		panic("flat: frame was changed while it was decoded")
	}
	p := unsafe.Add(a.data, a.used*a.size)
	a.used += n
	return p
}

// check checks a block of n elements at off and returns where it ends. After
// it, n is known to be less than len(d.b).
func (d *decoder) check(p *plan, n uint64, off int) (int, error) {
	if n == 0 {
		return off, nil
	}
	off = roundUp(off, p.align)
	if left := max(0, len(d.b)-off); n > uint64(left)/uint64(p.fixed) {
		return 0, corrupt(d.b, off, "%d elements of at least %d bytes, %d bytes left", n, p.fixed, left)
	}
	end := off + int(n)*p.fixed
	if !p.flat {
		return d.checkItems(p, int(n), off, end)
	}
	if len(p.bools) == 0 {
		return end, nil
	}
	block := d.b[off:end]
	if covers(p.bools, p.size) {
		if !zerosAndOnes(block) {
			return 0, corrupt(d.b, off, "a boolean that is neither 0 nor 1")
		}
		return end, nil
	}
	if i := notBoolean(block, p.bools, int(n), p.size); i >= 0 {
		return 0, corrupt(d.b, off+i*p.size, "a boolean that is neither 0 nor 1")
	}
	return end, nil
}

// checkItems checks n elements whose fixed parts, which lie within d.b, are at
// fixed and what they own at off, and returns where that ends.
func (d *decoder) checkItems(p *plan, n, fixed, off int) (int, error) {
	b := d.b
	for k := range p.ops {
		o := &p.ops[k]
		at := fixed + o.wire
		switch o.kind {
		case opString:
			for range n {
				length := native.Uint64(b[at:])
				if length > uint64(len(b)-off) {
					return 0, corrupt(b, at, "a string of %d bytes, %d bytes left", length, len(b)-off)
				}
				off += int(length)
				at += p.fixed
			}
		case opSlice, opPointer:
			for range n {
				length := native.Uint64(b[at:])
				if o.kind == opPointer && length > 1 {
					return 0, corrupt(b, at, "a pointer marked %d, neither 0 nor 1", length)
				}
				if length+1 > 1 { // neither empty nor nil
					var err error
					if off, err = d.check(o.child, length, off); err != nil {
						return 0, err
					}
					if !o.child.flat {
						d.arenas[o.child.slot].count += int(length)
					}
				}
				at += p.fixed
			}
		case opArray:
			for range n {
				var err error
				if off, err = d.checkItems(o.child, o.n, at, off); err != nil {
					return 0, err
				}
				at += p.fixed
			}
		default:
			if i := notBoolean(b[at:], o.bools, n, p.fixed); i >= 0 {
				return 0, corrupt(b, at+i*p.fixed, "a boolean that is neither 0 nor 1")
			}
		}
	}
	return off, nil
}

// nothing is what empty slices and elements without size point to.
var nothing uint64

// view returns a pointer to n elements of a flat type that lie in the frame at
// off.
func (d *decoder) view(p *plan, n, off int) unsafe.Pointer {
	if n == 0 || p.size == 0 {
		return unsafe.Pointer(&nothing)
	}
	block := d.b[off : off+n*p.size]
	return unsafe.Pointer(unsafe.SliceData(block))
}

// block decodes n > 0 elements that something refers to, at off, and returns
// where they are and where the block ends.
func (d *decoder) block(p *plan, n, off int) (unsafe.Pointer, int) {
	off = roundUp(off, p.align)
	end := off + n*p.fixed
	if p.flat {
		return d.view(p, n, off), end
	}
	base := d.arenas[p.slot].take(n)
	return base, d.items(p, base, n, off, end)
}

// items fills the n zeroed elements at base, whose fixed parts are at fixed and
// what they own at off, and returns where that ends. No bytes of the frame are
// ever stored as a pointer.
func (d *decoder) items(p *plan, base unsafe.Pointer, n, fixed, off int) int {
	b := d.b
	for k := range p.ops {
		o := &p.ops[k]
		at := fixed + o.wire
		switch o.kind {
		case opWord:
			for i := range n {
				*(*[8]byte)(unsafe.Add(base, i*p.size+o.off)) = *(*[8]byte)(b[at:])
				at += p.fixed
			}
		case opRun:
			for i := range n {
				copy(unsafe.Slice((*byte)(unsafe.Add(base, i*p.size+o.off)), o.n), b[at:])
				at += p.fixed
			}
		case opString:
			for i := range n {
				length := int(native.Uint64(b[at:]))
				*(*string)(unsafe.Add(base, i*p.size+o.off)) = view(b[off : off+length])
				off += length
				at += p.fixed
			}
		case opSlice:
			for i := range n {
				v := (*sliceHeader)(unsafe.Add(base, i*p.size+o.off))
				switch length := native.Uint64(b[at:]); length {
				case nilLength:
				case 0:
					v.data = unsafe.Pointer(&nothing)
				default:
					v.data, off = d.block(o.child, int(length), off)
					v.len, v.cap = int(length), int(length)
				}
				at += p.fixed
			}
		case opPointer:
			for i := range n {
				if native.Uint64(b[at:]) != 0 {
					*(*unsafe.Pointer)(unsafe.Add(base, i*p.size+o.off)), off = d.block(o.child, 1, off)
				}
				at += p.fixed
			}
		case opArray:
			for i := range n {
				off = d.items(o.child, unsafe.Add(base, i*p.size+o.off), o.n, at, off)
				at += p.fixed
			}
		}
	}
	return off
}

// view returns a string that lies in b, whose bytes must not change any more.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
