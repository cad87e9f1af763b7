package flat

import "unsafe"

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// measure returns where in the frame a block of the n elements at base ends
// that is appended at off.
func (p *plan) measure(base unsafe.Pointer, n, off int) int {
	if n == 0 {
		return off
	}
	off = roundUp(off, p.align) + n*p.fixed
	if p.flat {
		return off
	}
	return p.measureOwned(base, n, off)
}

// measureOwned is measure for what the elements own. Here, and wherever else
// items are gone through, the outer loop is over the pieces of the type, so
// that the inner one decides nothing.
func (p *plan) measureOwned(base unsafe.Pointer, n, off int) int {
	for k := range p.ops {
		o := &p.ops[k]
		switch o.kind {
		case opString:
			for i := range n {
				off += len(*(*string)(unsafe.Add(base, i*p.size+o.off)))
			}
		case opSlice:
			for i := range n {
				h := (*sliceHeader)(unsafe.Add(base, i*p.size+o.off))
				off = o.child.measure(h.data, h.len, off)
			}
		case opPointer:
			for i := range n {
				if v := *(*unsafe.Pointer)(unsafe.Add(base, i*p.size+o.off)); v != nil {
					off = o.child.measure(v, 1, off)
				}
			}
		case opArray:
			for i := range n {
				off = o.child.measureOwned(unsafe.Add(base, i*p.size+o.off), o.n, off)
			}
		}
	}
	return off
}

// encode writes a block of the n elements at base to the frame b at off and
// returns where it ends. b has the length that measure found.
func (p *plan) encode(b []byte, base unsafe.Pointer, n, off int) int {
	if n == 0 {
		return off
	}
	start := roundUp(off, p.align)
	clear(b[off:start])
	end := start + n*p.fixed
	if !p.flat {
		return p.encodeItems(b, base, n, start, end)
	}
	block := b[start:end]
	if p.size == 0 {
		clear(block)
		return end
	}
	copy(block, unsafe.Slice((*byte)(base), len(block)))
	wipe(block, p.holes, n, p.size)
	return end
}

// encodeItems writes the fixed parts of n elements at fixed and what they own
// at off, and returns where that ends.
func (p *plan) encodeItems(b []byte, base unsafe.Pointer, n, fixed, off int) int {
	for k := range p.ops {
		o := &p.ops[k]
		at := fixed + o.wire // of the piece in the fixed part of the element
		switch o.kind {
		case opWord:
			for i := range n {
				*(*[8]byte)(b[at:]) = *(*[8]byte)(unsafe.Add(base, i*p.size+o.off))
				at += p.fixed
			}
		case opRun:
			for i := range n {
				copy(b[at:], unsafe.Slice((*byte)(unsafe.Add(base, i*p.size+o.off)), o.n))
				at += p.fixed
			}
			wipe(b[fixed+o.wire:], o.holes, n, p.fixed)
		case opString:
			for i := range n {
				s := *(*string)(unsafe.Add(base, i*p.size+o.off))
				native.PutUint64(b[at:], uint64(len(s)))
				off += copy(b[off:], s)
				at += p.fixed
			}
		case opSlice:
			for i := range n {
				h := (*sliceHeader)(unsafe.Add(base, i*p.size+o.off))
				length := uint64(h.len)
				if h.data == nil {
					length = nilLength
				}
				native.PutUint64(b[at:], length)
				off = o.child.encode(b, h.data, h.len, off)
				at += p.fixed
			}
		case opPointer:
			for i := range n {
				var length uint64
				if v := *(*unsafe.Pointer)(unsafe.Add(base, i*p.size+o.off)); v != nil {
					length = 1
					off = o.child.encode(b, v, 1, off)
				}
				native.PutUint64(b[at:], length)
				at += p.fixed
			}
		case opArray:
			for i := range n {
				off = o.child.encodeItems(b, unsafe.Add(base, i*p.size+o.off), o.n, at, off)
				at += p.fixed
			}
		}
	}
	return off
}
