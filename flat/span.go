package flat

// span marks bytes of a value: those that are padding, or those that are
// booleans. It is either n bytes from off on, or, if n is 0, the spans of
// inner, times over, the first from off on and each stride after the last.
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
	return len(spans) == 1 && spans[0].n == size
}

// wipe zeroes the spans of n values in b, each stride bytes after the last.
func wipe(b []byte, spans []span, n, stride int) {
	for i := range spans {
		s := &spans[i]
		for k := range s.times {
			wipe(b[s.off+k*s.stride:], s.inner, n, stride)
		}
		if s.n == 0 {
			continue
		}
		for at, left := s.off, n; left > 0; at, left = at+stride, left-1 {
			clear(b[at : at+s.n])
		}
	}
}

// notBoolean returns the number of the first of n values in b, each stride
// bytes after the last, whose spans are not all zeros and ones, or -1.
func notBoolean(b []byte, spans []span, n, stride int) int {
	for i := range spans {
		s := &spans[i]
		for k := range s.times {
			if at := notBoolean(b[s.off+k*s.stride:], s.inner, n, stride); at >= 0 {
				return at
			}
		}
		if s.n == 0 {
			continue
		}
		for k := range n {
			at := s.off + k*stride
			if !zerosAndOnes(b[at : at+s.n]) {
				return k
			}
		}
	}
	return -1
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
