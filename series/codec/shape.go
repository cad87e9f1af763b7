package codec

import "math"

// shape is how the integers of a column come from its residuals.
type shape struct {
	kind          int
	base          uint64
	first         [2]uint64 // the first value and difference, where the kind has them
	origin, scale uint64    // each is origin + x·scale at last
	most          float64   // no residual has a greater magnitude
}

// times multiplies all integers by a unit, which takes no time.
func (s *shape) times(unit uint64) {
	s.origin *= unit
	s.scale *= unit
}

// rebuild makes integers of the residuals, which are where they will be, behind room for the first ones.
func (s *shape) rebuild(dst []uint64) {
	scale, step := s.scale, s.base*s.scale
	switch s.kind {
	case kindValues:
		add := step + s.origin
		if scale == 1 && add == 0 {
			return
		}
		for i, r := range dst {
			dst[i] = r*scale + add
		}
	case kindDeltas:
		v := s.first[0]*scale + s.origin
		dst[0] = v
		dst = dst[1:]
		for i, r := range dst {
			v += r*scale + step
			dst[i] = v
		}
	default:
		v, d := s.first[0]*scale+s.origin, s.first[1]*scale
		dst[0] = v
		v += d
		dst[1] = v
		dst = dst[2:]
		for i, r := range dst {
			d += r*scale + step
			v += d
			dst[i] = v
		}
	}
}

// bound is what no integer of n is greater than in magnitude, but for what rounding adds.
func (s *shape) bound(n int) float64 {
	magnitude := func(x uint64) float64 { return math.Abs(float64(int64(x))) }
	most := s.most + magnitude(s.base)
	if s.kind == kindDeltas2 {
		most = most*float64(n) + magnitude(s.first[1])
	}
	if s.kind != kindValues {
		most = most*float64(n) + magnitude(s.first[0])
	}
	return most*float64(s.scale) + magnitude(s.origin)
}

// lay makes times of residuals from a grid that begins at a time.
func (s *shape) lay(dst []uint64, at, step uint64) {
	if s.kind != kindValues {
		s.rebuild(dst)
		lay(dst, at, step)
		return
	}
	scale := s.scale
	at += s.base*scale + s.origin
	for i, r := range dst {
		dst[i] = r*scale + at
		at += step
	}
}
