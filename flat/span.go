package flat

// span marks bytes of a value: those that are padding, or those that are
// booleans. It is either n bytes from off on, or, if inner is not empty, the
// spans of inner, times over, the first from off on and each stride after the last.
type span struct {
	off, n        int
	times, stride int
	inner         []span
}

// shift appends spans to dst, moved up by d.
func shift(dst, spans []span, d int) []span {
	for _, s := range spans {
		s.off += d
		dst = append(dst, s)
	}
	return dst
}

// repeat returns the spans of n values of size bytes behind one another.
func repeat(spans []span, n, size int) []span {
	switch {
	case len(spans) == 0:
		return nil
	case covers(spans, size):
		return []span{{n: n * size}}
	}
	return []span{{times: n, stride: size, inner: spans}}
}

// covers says whether spans are all of a value of size bytes.
func covers(spans []span, size int) bool {
	return len(spans) == 1 && len(spans[0].inner) == 0 && spans[0].n == size
}

// wipe zeroes the spans of the value at the start of b.
func wipe(b []byte, spans []span) {
	for i := range spans {
		s := &spans[i]
		if len(s.inner) == 0 {
			clear(b[s.off : s.off+s.n])
			continue
		}
		for k := range s.times {
			wipe(b[s.off+k*s.stride:], s.inner)
		}
	}
}

// booleans says whether the spans of the value at the start of b are zeros and ones.
func booleans(b []byte, spans []span) bool {
	for i := range spans {
		s := &spans[i]
		if len(s.inner) == 0 {
			if !zerosAndOnes(b[s.off : s.off+s.n]) {
				return false
			}
			continue
		}
		for k := range s.times {
			if !booleans(b[s.off+k*s.stride:], s.inner) {
				return false
			}
		}
	}
	return true
}

func zerosAndOnes(b []byte) bool {
	var seen uint64
	for ; len(b) >= 8; b = b[8:] {
		seen |= native.Uint64(b)
	}
	for _, c := range b {
		seen |= uint64(c)
	}
	return seen&^0x0101010101010101 == 0
}
