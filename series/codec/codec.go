// Package codec compresses the two columns of a series, values and times, without any loss:
// every bit pattern of a float64 comes back, whatever it means.
//
//	var hint codec.Hint // one a series, so that what was found out about it is used again
//	page = codec.AppendTimes(page, &hint, times)
//	page = codec.AppendValues(page, &hint, values)
//
//	times, rest, err := codec.DecodeTimes(nil, page)
//	values, rest, err := codec.DecodeValues(nil, rest)
//
// A vector is up to [Max] points. Each is decoded alone and says how long it is. Of the forms that a
// vector may take, each in a file of this package, the encoder picks the smallest; the decoder needs nothing but the
// bytes. docs/formats-series.md describes them.
package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Max is how many points a vector holds at most.
const Max = 512

// ErrCorrupt is wrapped by the errors of all decoders: the bytes are not a vector that an
// encoder of this package has written, or not all of it.
var ErrCorrupt = errors.New("corrupt vector")

var errShort = fmt.Errorf("%w: it ends too early", ErrCorrupt)

// full marks, in the first byte of a vector, one of Max points; the others have their number, less 1, in the
// two bytes that follow.
const full = 0x80

// Bound is how many bytes a vector of n values or times takes at most.
func Bound(n int) int { return 4 + 8*n }

// AppendValues appends the vector of up to [Max] values to dst, and panics if there are more, or none. It
// allocates nothing where dst has room for [Bound] bytes. The hint, which may be nil, belongs to the series that the values
// are from: it makes encoding faster, and is updated.
func AppendValues(dst []byte, hint *Hint, vs []float64) []byte {
	dst, formAt := appendHead(dst, len(vs))
	if hint == nil {
		hint = new(Hint)
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.plan(vs, hint)
	dst[formAt] |= byte(e.form)
	return e.append(dst, vs)
}

// appendHead appends the first bytes of a vector, without its form.
func appendHead(dst []byte, n int) (_ []byte, formAt int) {
	if n < 1 || n > Max {
		panic(fmt.Sprintf("codec: a vector of %d points, expected 1 to %d", n, Max))
	}
	formAt = len(dst)
	if n == Max {
		return append(dst, full), formAt
	}
	return binary.LittleEndian.AppendUint16(append(dst, 0), uint16(n-1)), formAt
}

// DecodeValues appends the values of the vector at the start of src to dst, and returns what follows it. The
// error wraps [ErrCorrupt]; then dst is as it was.
func DecodeValues(dst []float64, src []byte) (values []float64, rest []byte, err error) {
	form, n, rest, err := decodeHead(src)
	if err != nil {
		return dst, src, fmt.Errorf("decode values: %w", err)
	}
	values = extend(dst, n)
	if rest, err = decodeForm(values[len(dst):], rest, Form(form), 0); err != nil {
		return dst, src, fmt.Errorf("decode values: %w", err)
	}
	return values, rest, nil
}

func decodeHead(src []byte) (form byte, n int, rest []byte, err error) {
	if len(src) == 0 {
		return 0, 0, nil, errShort
	}
	if src[0]&full != 0 {
		return src[0] &^ full, Max, src[1:], nil
	}
	if len(src) < 3 {
		return 0, 0, nil, errShort
	}
	n = int(binary.LittleEndian.Uint16(src[1:])) + 1
	if n >= Max {
		return 0, 0, nil, fmt.Errorf("%w: %d points, expected less than %d", ErrCorrupt, n, Max)
	}
	return src[0], n, src[3:], nil
}

// FormOf is the form of the vector of values at the start of src.
func FormOf(src []byte) (Form, error) {
	form, _, _, err := decodeHead(src)
	if err == nil && Form(form) >= forms {
		err = fmt.Errorf("%w: form %d is unknown", ErrCorrupt, form)
	}
	return Form(form), err
}

// Points is how many values or times are in the vector at the start of src; 0 if it is none.
func Points(src []byte) int {
	_, n, _, err := decodeHead(src)
	if err != nil {
		return 0
	}
	return n
}

// extend is dst with n more elements, of which it does not matter what they are.
func extend[T any](dst []T, n int) []T {
	if cap(dst)-len(dst) >= n {
		return dst[:len(dst)+n]
	}
	return append(dst, make([]T, n)...)
}

// words is the same memory, as bit patterns: decoders build integers where the values will be.
func words(vs []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(vs))), len(vs))
}

// Form is how a vector of values is written.
type Form byte

// The forms of values. The numbers are those of the format.
const (
	Constant Form = iota // one value
	Repeat               // where values change, and to what
	Decimal              // integers divided by a constant
	Ordered              // bit patterns as integers
	Dict                 // a table of the distinct values
	Front                // a table of the leading bits, the other bits as they are
	XOR                  // what differs from the value before
	DFCM                 // what differs from a prediction
	Raw                  // 8 bytes each
	forms
)

var formNames = [forms]string{"constant", "repeat", "decimal", "ordered", "dict", "front", "xor", "dfcm", "raw"}

func (f Form) String() string {
	if f < forms {
		return formNames[f]
	}
	return fmt.Sprintf("form %d", byte(f))
}

// decodeForm fills dst from the body of a form. A vector within another one has depth 1, and is none
// that has a vector within.
func decodeForm(dst []float64, src []byte, form Form, depth int) (rest []byte, err error) {
	switch {
	case form == Constant:
		return decodeConstant(dst, src)
	case form == Repeat && depth == 0:
		return decodeRepeat(dst, src)
	case form == Decimal:
		return decodeDecimal(dst, src)
	case form == Ordered:
		return decodeOrdered(dst, src)
	case form == Dict && depth == 0:
		return decodeDict(dst, src)
	case form == Front:
		return decodeFront(dst, src)
	case form == XOR:
		return decodeXOR(dst, src)
	case form == DFCM:
		return decodeDFCM(dst, src)
	case form == Raw:
		return decodeRaw(dst, src)
	}
	return nil, fmt.Errorf("%w: form %d at depth %d", ErrCorrupt, form, depth)
}

// decodeInner fills dst from a vector within another one: its form, and the body.
func decodeInner(dst []float64, src []byte) (rest []byte, err error) {
	if len(src) == 0 {
		return nil, errShort
	}
	return decodeForm(dst, src[1:], Form(src[0]), 1)
}

func appendRaw(dst []byte, vs []float64) []byte {
	for _, v := range vs {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

func decodeRaw(dst []float64, src []byte) (rest []byte, err error) {
	if len(src) < 8*len(dst) {
		return nil, errShort
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
	}
	return src[8*len(dst):], nil
}

// reader reads the small fields of a vector. After it has failed, all are 0.
type reader struct {
	src    []byte
	failed bool
}

func (r *reader) byte() byte {
	if len(r.src) == 0 {
		r.failed = true
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.failed, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return x
}

func (r *reader) varint() int64 { return unzigzag(r.uvarint()) }
