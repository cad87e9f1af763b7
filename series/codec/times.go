package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"
)

// Times, in nanoseconds or whatever the series counts in. They are divided by the largest of a few units that
// divides all of them. Then they are a column of integers (a constant step has deltas of 0 bits); or, since what is
// late once is seldom late for good, the residuals from a grid: tᵢ = t₀ + kᵢ·step + rᵢ, where k counts up by 1 but for a
// few gaps. Jitter of variance σ² has that variance in r, twice that in the differences, and six times in the
// differences of differences.

// How times are written.
const (
	timesColumn = 0
	timesGrid   = 1

	timesForm  = 1 // mask of the above in the first byte
	unitShift  = 1
	unitMask   = 7 << unitShift
	timesKnown = timesForm | unitMask
)

// units are those of the format, which has their index.
var units = [8]int64{1, 1e3, 1e6, 1e9, 1e10, 6e10, 1e5, 1e4}

// coarse is the order in which units are tried.
var coarse = [...]byte{5, 4, 3, 2, 6, 7, 1}

// grid is a plan for times.
type grid struct {
	dense bool
	unit  byte
	step  int64
	start int64
	plain column // of the times
	rests column // residuals from the grid
	where column // of the gaps: how far each is behind the last one
	long  column // how many steps are missing
	n     int    // times
	gaps  int
	size  int // of the grid, behind the head

	times, r  [Max]int64
	at, steps [Max]int64
}

var grids = sync.Pool{New: func() any { return new(grid) }}

// AppendTimes appends the vector of up to [Max] times to dst, and panics if there are more, or none. They
// may be in any order. It allocates nothing where dst has room for [Bound] bytes. Of the hint, which may be nil, only
// [Hint.Dense] matters.
func AppendTimes(dst []byte, hint *Hint, ts []int64) []byte {
	dst, formAt := appendHead(dst, len(ts))
	g := grids.Get().(*grid)
	defer grids.Put(g)
	g.dense = hint != nil && hint.Dense
	times := g.divide(ts)
	dst[formAt] |= g.unit << unitShift
	if g.plan(times) {
		dst[formAt] |= timesGrid
		return g.append(dst)
	}
	return g.plain.append(dst, times)
}

// divide finds the unit, and returns the times in it.
func (g *grid) divide(ts []int64) []int64 {
	g.unit = 0
	for _, u := range coarse {
		by := units[u]
		if !slices.ContainsFunc(ts, func(t int64) bool { return t%by != 0 }) {
			g.unit = u
			break
		}
	}
	times := g.times[:len(ts)]
	if g.unit == 0 {
		copy(times, ts)
		return times
	}
	for i, t := range ts {
		times[i] = t / units[g.unit]
	}
	return times
}

// plan decides, and reports whether it is for the grid. It overwrites the times.
func (g *grid) plan(times []int64) bool {
	g.size = math.MaxInt
	if len(times) > 2 {
		if step, ok := fit(times); ok {
			g.lay(times, step)
		}
	}
	g.plain = planColumn(times, g.dense)
	return g.size < g.plain.size
}

// fit finds the step of most of the times, a round number if one will do.
func fit(times []int64) (step int64, ok bool) {
	var room [64]int64
	stride := max((len(times)-1)/len(room), 1)
	some := room[:0]
	for i := stride; i < len(times) && len(some) < len(room); i += stride {
		some = append(some, times[i]-times[i-1])
	}
	slices.Sort(some)
	median := some[len(some)/2]
	if median <= 0 || median > math.MaxInt64/(4*Max) {
		return 0, false
	}
	// The mean of many steps is nearer to the truth than any of them, once missing points are counted.
	span := float64(times[len(times)-1]) - float64(times[0])
	steps := math.Round(span / float64(median))
	if steps < 1 || span < 0 {
		return median, true
	}
	mean := span / steps
	jitter := float64(some[len(some)*7/8] - some[len(some)/8])
	if math.Abs(mean-float64(median)) > jitter/2+1 {
		return median, true
	}
	tolerance := jitter / steps
	for p := int64(1e15); p > 0; p /= 10 {
		if r := math.Round(mean/float64(p)) * float64(p); r > 0 && math.Abs(r-mean) <= tolerance {
			return int64(r), true
		}
	}
	return max(int64(math.Round(mean)), 1), true
}

// lay plans for a grid of the step.
func (g *grid) lay(times []int64, step int64) {
	n := len(times)
	g.n, g.step, g.start, g.gaps = n, step, times[0], 0
	at, last := times[0], 0
	half := step / 2
	g.r[0] = 0
	for i, t := range times[1:] {
		at += step
		r := t - at
		if r > half || r < -half {
			// More than half a step away: a gap, or back.
			missed := r / step
			if rest := r - missed*step; rest > half {
				missed++
			} else if rest < -half {
				missed--
			}
			if missed != 0 {
				if g.gaps >= n/4 {
					return
				}
				at += missed * step
				g.at[g.gaps], g.steps[g.gaps] = int64(i+1-last), missed
				g.gaps++
				last = i + 1
				r = t - at
			}
		}
		g.r[i+1] = r
	}
	g.rests = planColumn(g.r[:n], g.dense)
	g.size = varintSize(zigzag(g.start)) + varintSize(uint64(step)) + varintSize(uint64(g.gaps)) + g.rests.size
	if g.gaps > 0 {
		g.where, g.long = planColumn(g.at[:g.gaps], g.dense), planColumn(g.steps[:g.gaps], g.dense)
		g.size += g.where.size + g.long.size
	}
}

func (g *grid) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, g.start)
	dst = binary.AppendUvarint(dst, uint64(g.step))
	dst = binary.AppendUvarint(dst, uint64(g.gaps))
	if g.gaps > 0 {
		dst = g.where.append(dst, g.at[:g.gaps])
		dst = g.long.append(dst, g.steps[:g.gaps])
	}
	return g.rests.append(dst, g.r[:g.n])
}

// DecodeTimes appends the times of the vector at the start of src to dst, and returns what follows it. The
// error wraps [ErrCorrupt]; then dst is as it was.
func DecodeTimes(dst []int64, src []byte) (times []int64, rest []byte, err error) {
	form, n, rest, err := decodeHead(src)
	if err != nil {
		return dst, src, fmt.Errorf("decode times: %w", err)
	}
	if form&^timesKnown != 0 {
		return dst, src, fmt.Errorf("decode times: %w: form %#x", ErrCorrupt, form)
	}
	times = extend(dst, n)
	w, unit := unsigned(times[len(dst):]), uint64(units[form&unitMask>>unitShift])
	if form&timesForm == timesGrid {
		rest, err = decodeGrid(w, rest, unit)
	} else {
		var s shape
		if s, rest, err = readColumn(w, rest); err == nil {
			s.times(unit)
			s.rebuild(w)
		}
	}
	if err != nil {
		return dst, src, fmt.Errorf("decode times: %w", err)
	}
	return times, rest, nil
}

// unsigned is the same memory.
func unsigned(ts []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(ts))), len(ts))
}

func decodeGrid(w []uint64, src []byte, unit uint64) (rest []byte, err error) {
	r := reader{src: src}
	start, step, gaps := uint64(r.varint()), r.uvarint(), r.uvarint()
	if r.failed || gaps >= uint64(len(w)) {
		return nil, fmt.Errorf("%w: grid of %d times with %d gaps", ErrCorrupt, len(w), gaps)
	}
	start *= unit
	step *= unit
	if gaps > 0 {
		return decodeGaps(w, r.src, start, step, int(gaps), unit)
	}
	s, rest, err := readColumn(w, r.src)
	if err != nil {
		return nil, err
	}
	s.times(unit)
	s.lay(w, start, step)
	return rest, nil
}

// lay adds the points of a grid, and returns the next one.
func lay(w []uint64, at, step uint64) uint64 {
	for i, r := range w {
		w[i] = r + at
		at += step
	}
	return at
}

// decodeGaps reads the residuals, in the unit, from a grid with gaps.
func decodeGaps(w []uint64, src []byte, at, step uint64, gaps int, unit uint64) (rest []byte, err error) {
	var where, long [Max]uint64
	if rest, err = decodeColumn(where[:gaps], src); err != nil {
		return nil, err
	}
	if rest, err = decodeColumn(long[:gaps], rest); err != nil {
		return nil, err
	}
	s, rest, err := readColumn(w, rest)
	if err != nil {
		return nil, err
	}
	s.times(unit)
	s.rebuild(w)
	for i, n := range where[:gaps] {
		if n == 0 || n >= uint64(len(w)) {
			return nil, fmt.Errorf("%w: gap after %d times, with %d left", ErrCorrupt, n, len(w))
		}
		at = lay(w[:n], at, step) + long[i]*step
		w = w[n:]
	}
	lay(w, at, step)
	return rest, nil
}
