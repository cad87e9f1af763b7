package flat

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// What is wrong with a frame, for callers that do something about it. The
// errors returned wrap one of these and say more.
var (
	// ErrShort: the input ends before the frame does. More bytes may help.
	ErrShort = errors.New("flat: frame is cut short")
	// ErrType: the frame holds elements of another type, or of another machine.
	ErrType = errors.New("flat: frame is of another type")
	// ErrCorrupt: no Append wrote this frame.
	ErrCorrupt = errors.New("flat: frame is corrupt")
)

// Codec encodes and decodes slices of T. It is what the package's functions
// look up on each call; whoever encodes many small batches keeps one. The zero
// Codec is of no use, make one with [For]. Codecs are safe for use by several
// goroutines.
type Codec[T any] struct{ plan *plan }

// plans holds a *plan for each reflect.Type seen.
var plans sync.Map

// planFor returns the plan for T, compiling it at first use. Its err says
// whether it can be used.
func planFor[T any]() *plan {
	t := reflect.TypeFor[T]()
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, compile(t))
	return p.(*plan)
}

// For returns the codec for T, or the error of [Check].
func For[T any]() (Codec[T], error) {
	p := planFor[T]()
	return Codec[T]{p}, p.err
}

// must returns the codec for T and panics if there is none.
func must[T any]() Codec[T] {
	p := planFor[T]()
	if p.err != nil {
		panic(p.err)
	}
	return Codec[T]{p}
}

// Check says whether slices of T can be encoded. Its error names the field that
// cannot and why.
func Check[T any]() error { return planFor[T]().err }

// Size returns how many bytes Append adds for xs. It panics if [Check] fails
// for T.
func Size[T any](xs []T) int { return must[T]().Size(xs) }

// Append appends a frame that holds xs to dst and returns the extended slice.
// It allocates only if dst has not the capacity. It panics if [Check] fails for
// T, which depends on the program and never on the values.
func Append[T any](dst []byte, xs []T) []byte { return must[T]().Append(dst, xs) }

// Decode returns the elements of the frame that src begins with, and how many
// bytes that frame takes. The result may lie in src: see the package comment
// for who owns what. If src begins at a multiple of 8, or T needs no alignment,
// nothing is copied that need not be; else the frame is copied once.
//
// The error is, or wraps, ErrShort, ErrType or ErrCorrupt, or is that of
// [Check].
func Decode[T any](src []byte) (xs []T, consumed int, err error) {
	c, err := For[T]()
	if err != nil {
		return nil, 0, err
	}
	return c.Decode(src)
}

// DecodeAppend appends the elements of the frame that src begins with to dst.
// It is [Decode] for who has memory for the elements already: those are copied,
// and what they own lies in src, so that it does not allocate if dst has the
// capacity and no element refers to others with pointers. After an error, dst
// is returned as it was.
func DecodeAppend[T any](dst []T, src []byte) (xs []T, consumed int, err error) {
	c, err := For[T]()
	if err != nil {
		return dst, 0, err
	}
	return c.DecodeAppend(dst, src)
}

// Size returns how many bytes Append adds for xs.
func (c Codec[T]) Size(xs []T) int {
	return roundUp(c.plan.measure(unsafe.Pointer(unsafe.SliceData(xs)), len(xs), headerSize), frameAlign)
}

// Append is [Append] without the search for the codec.
func (c Codec[T]) Append(dst []byte, xs []T) []byte {
	start, total := len(dst), c.Size(xs)
	dst = slices.Grow(dst, total)[:start+total]
	frame := dst[start:]
	n := uint64(len(xs))
	if xs == nil {
		n = nilLength
	}
	putHeader(frame, c.plan.hash, n)
	end := c.plan.encode(frame, unsafe.Pointer(unsafe.SliceData(xs)), len(xs), headerSize)
	clear(frame[end:])
	return dst
}

// Decode is [Decode] without the search for the codec.
func (c Codec[T]) Decode(src []byte) (xs []T, consumed int, err error) {
	var d decoder
	n, err := d.open(c.plan, src, c.plan.alignAll)
	defer d.close(c.plan)
	switch {
	case err != nil:
		return nil, 0, err
	case n < 0:
		return nil, len(d.b), nil
	case c.plan.flat:
		return unsafe.Slice((*T)(d.view(c.plan, n, headerSize)), n), len(d.b), nil
	}
	xs = make([]T, n)
	d.fill(c.plan, unsafe.Pointer(unsafe.SliceData(xs)), n)
	return xs, len(d.b), nil
}

// DecodeAppend is [DecodeAppend] without the search for the codec.
func (c Codec[T]) DecodeAppend(dst []T, src []byte) (xs []T, consumed int, err error) {
	align := c.plan.alignAll
	if c.plan.flat {
		align = 1 // the elements are copied anyway
	}
	var d decoder
	n, err := d.open(c.plan, src, align)
	defer d.close(c.plan)
	if err != nil || n <= 0 {
		return dst, len(d.b), err
	}
	dst = slices.Grow(dst, n)
	more := dst[len(dst) : len(dst)+n]
	if c.plan.flat {
		if c.plan.size > 0 {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&more[0])), n*c.plan.size), d.b[headerSize:])
		}
	} else {
		clear(more)
		d.fill(c.plan, unsafe.Pointer(&more[0]), n)
	}
	return dst[:len(dst)+n], len(d.b), nil
}
