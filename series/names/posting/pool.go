package posting

const (
	chunkBits = 16 // bytes of a chunk of the pool
	maxChunks = 1 << (32 - chunkBits)
	linkBytes = 4 // at the end of a piece: where the next one is

	minPiece = 3 // log2 of the bytes of the first piece of a list
	maxPiece = 8 // and of the last ones; those between double
	levels   = maxPiece - minPiece + 1
)

// pool holds the bytes of short lists. A piece of 2^k bytes begins at a
// multiple of 2^k and lies in a chunk of pieces of that size, so that its end
// follows from an address inside of it. Bytes are written once.
type pool struct {
	chunks []*[1 << chunkBits]byte
	sizes  []uint8 // log2 of the piece size of each chunk
	next   [levels]uint32
	left   [levels]uint32 // pieces that the chunk of next still has
}

// alloc returns the address of a new piece.
func (p *pool) alloc(level int) uint32 {
	if p.left[level] == 0 {
		p.next[level] = uint32(len(p.chunks)) << chunkBits
		p.left[level] = 1 << (chunkBits - minPiece - level)
		p.chunks = append(p.chunks, new([1 << chunkBits]byte))
		p.sizes = append(p.sizes, uint8(minPiece+level))
	}
	at := p.next[level]
	p.next[level] += 1 << (minPiece + level)
	p.left[level]--
	return at
}

// put writes x as a varint at address at and returns the address behind it.
func (p *pool) put(at, x uint32) uint32 {
	for {
		size := p.sizes[at>>chunkBits]
		if link := at | (1<<size - 1) - (linkBytes - 1); at == link {
			next := p.alloc(min(int(size)-minPiece+1, levels-1))
			c := p.chunks[link>>chunkBits]
			for i := range uint32(linkBytes) {
				c[(link+i)%(1<<chunkBits)] = byte(next >> (8 * i))
			}
			at = next
		}
		c := p.chunks[at>>chunkBits]
		if x < 0x80 {
			c[at%(1<<chunkBits)] = byte(x)
			return at + 1
		}
		c[at%(1<<chunkBits)] = byte(x) | 0x80
		x >>= 7
		at++
	}
}

// walk calls yield with the numbers of a chain of n until it returns false,
// and reports whether it never did.
func (v *View) walk(n uint32, yield func(uint32) bool) bool {
	at, id := v.start, uint32(0)
	chunk, link := v.piece(at)
	for range n {
		var delta uint32
		for shift := 0; ; shift += 7 {
			if at == link {
				var next uint32
				for i := range uint32(linkBytes) {
					next |= uint32(chunk[(link+i)%(1<<chunkBits)]) << (8 * i)
				}
				at = next
				chunk, link = v.piece(at)
			}
			b := chunk[at%(1<<chunkBits)]
			at++
			delta |= uint32(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		id += delta
		if !yield(id) {
			return false
		}
	}
	return true
}

// piece is the chunk of the piece that begins at an address, and the address
// of the piece's link.
func (v *View) piece(at uint32) (chunk *[1 << chunkBits]byte, link uint32) {
	c := at >> chunkBits
	return v.chunks[c], at | (1<<v.sizes[c] - 1) - (linkBytes - 1)
}
