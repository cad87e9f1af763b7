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

// measureOwned is measure for what the elements own.
func (p *plan) measureOwned(base unsafe.Pointer, n, off int) int {
	if p.strings {
		for _, s := range unsafe.Slice((*string)(base), n) {
			off += len(s)
		}
		return off
	}
	for i := range n {
		e := unsafe.Add(base, i*p.size)
		for k := range p.ops {
			o := &p.ops[k]
			switch o.kind {
			case opString:
				off += len(*(*string)(unsafe.Add(e, o.off)))
			case opSlice:
				h := (*sliceHeader)(unsafe.Add(e, o.off))
				off = o.child.measure(h.data, h.len, off)
			case opPointer:
				if v := *(*unsafe.Pointer)(unsafe.Add(e, o.off)); v != nil {
					off = o.child.measure(v, 1, off)
				}
			case opArray:
				off = o.child.measureOwned(unsafe.Add(e, o.off), o.n, off)
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
	if len(p.holes) > 0 {
		for i := 0; i < len(block); i += p.size {
			wipe(block[i:], p.holes)
		}
	}
	return end
}

// encodeItems writes the fixed parts of n elements at fixed and what they own
// at off, and returns where that ends.
func (p *plan) encodeItems(b []byte, base unsafe.Pointer, n, fixed, off int) int {
	if p.strings {
		return encodeStrings(b, unsafe.Slice((*string)(base), n), fixed, off)
	}
	for i := range n {
		e := unsafe.Add(base, i*p.size)
		for k := range p.ops {
			o := &p.ops[k]
			v, wire := unsafe.Add(e, o.off), b[fixed+o.wire:]
			switch o.kind {
			case opWord:
				copy(wire[:8], (*[8]byte)(v)[:])
			case opRun:
				copy(wire, unsafe.Slice((*byte)(v), o.n))
				wipe(wire, o.holes)
			case opString:
				s := *(*string)(v)
				native.PutUint64(wire, uint64(len(s)))
				off += copy(b[off:], s)
			case opSlice:
				h := (*sliceHeader)(v)
				length := uint64(h.len)
				if h.data == nil {
					length = nilLength
				}
				native.PutUint64(wire, length)
				off = o.child.encode(b, h.data, h.len, off)
			case opPointer:
				var length uint64
				if q := *(*unsafe.Pointer)(v); q != nil {
					length = 1
					off = o.child.encode(b, q, 1, off)
				}
				native.PutUint64(wire, length)
			case opArray:
				off = o.child.encodeItems(b, v, o.n, fixed+o.wire, off)
			}
		}
		fixed += p.fixed
	}
	return off
}

func encodeStrings(b []byte, xs []string, fixed, off int) int {
	for _, s := range xs {
		native.PutUint64(b[fixed:], uint64(len(s)))
		fixed += lengthSize
		off += copy(b[off:], s)
	}
	return off
}
