package codec

import (
	"sync"

	"weir/series/codec/dfcm"
	"weir/series/codec/xor"
)

// Hint is what encoding the vectors of a series has taught about it. It changes how fast and how well
// vectors are encoded, never what they decode to. The zero value knows nothing. It takes a few
// bytes; it is not safe for concurrent use.
type Hint struct {
	// Dense asks for vectors that are smaller, and take several times longer to decode: for what is seldom read. A
	// caller sets it.
	Dense bool

	divisor  byte // index of the divisor that was the best
	known    bool // whether there is one
	settled  byte // vectors for which exceptions are no reason to look for another one
	failures byte // searches in a row that found none
	pause    byte // vectors until the next search
	right    byte // split of the front bits that was the best
	splits   byte // vectors until it is looked for again
	seldom   byte // vectors until the forms that are rarely good are tried again
	tables   byte // vectors until a dictionary is tried again
}

// encoder finds the smallest form. It has the room that plans take, and two of its own for the
// vectors within a vector.
type encoder struct {
	form Form
	size int // of the body

	repeats  repeats
	decimals [2]decimals
	decimal  *decimals // the better one
	ordered  ordered
	dict     dictionary
	fronts   fronts

	changed *encoder // for the vector within Repeat; nil in one that is within
	table   *encoder // for that within Dict
}

var encoders = sync.Pool{New: func() any {
	counts := new(frontCounts)
	within := func() *encoder { return &encoder{fronts: fronts{counts: counts}} }
	e := within()
	e.changed, e.table = within(), within()
	return e
}}

// Below these sizes, in bits a value, other forms are not worth looking for.
const (
	dictFrom    = 4
	wordsFrom   = 16
	orderedFrom = 24
	frontFrom   = 40
	// The forms that are rarely good are tried with one vector of so many, while they are not.
	seldomEvery = 8
	splitsEvery = 8
)

// plan decides on the form of 1 to Max values.
func (e *encoder) plan(vs []float64, hint *Hint) {
	n := len(vs)
	e.form, e.size = Raw, 8*n
	outermost := e.changed != nil
	e.repeats.split(vs)
	if e.repeats.changes == 1 {
		e.form, e.size = Constant, planConstant(vs[0])
		return
	}
	if outermost && e.repeats.changes*5 <= n*4 {
		e.repeats.plan(n, hint.Dense)
		e.changed.plan(e.repeats.values[:e.repeats.changes], hint)
		e.offer(Repeat, e.repeats.size+1+e.changed.size)
		if e.size*8 <= n {
			return
		}
	}
	var clean bool
	e.decimal, clean = planDecimals(&e.decimals[0], &e.decimals[1], vs, hint)
	if e.decimal != nil {
		e.offer(Decimal, e.decimal.size)
	}
	if !clean && e.size*8 > orderedFrom*n {
		e.ordered.plan(vs, hint.Dense)
		e.offer(Ordered, e.ordered.size)
		e.planSeldom(vs, hint)
	}
	if outermost && (e.size*8 > dictFrom*n || hint.Dense) {
		e.planDict(vs, hint)
	}
}

// offer takes a form if it is smaller.
func (e *encoder) offer(form Form, size int) {
	if size < e.size {
		e.form, e.size = form, size
	}
}

// planSeldom tries the forms that are rarely good.
func (e *encoder) planSeldom(vs []float64, hint *Hint) {
	n := len(vs)
	if e.size*8 <= wordsFrom*n {
		return
	}
	if hint.seldom > 0 && e.form != Raw {
		hint.seldom--
		return
	}
	before := e.size
	if e.size*8 > frontFrom*n {
		right := uint(hint.right)
		if hint.splits == 0 {
			right, hint.splits = 0, splitsEvery
		}
		hint.splits--
		e.fronts.plan(vs, right)
		hint.right = byte(e.fronts.right)
		e.offer(Front, e.fronts.size)
	}
	e.offer(XOR, xor.Size(vs))
	e.offer(DFCM, dfcm.Size(vs))
	if e.size == before {
		hint.seldom, hint.splits = seldomEvery-1, 0
	}
}

// planDict tries a dictionary.
func (e *encoder) planDict(vs []float64, hint *Hint) {
	if hint.tables > 0 {
		hint.tables--
		return
	}
	d := &e.dict
	if !d.find(vs) {
		hint.tables = seldomEvery - 1
		return
	}
	// A value in the table will hardly take less than a byte, nor places much less than all of their bits.
	share := 7
	if hint.Dense {
		share = 4
	}
	if d.distinct+len(vs)*int(positionBits(d.distinct))*share/64 > e.size {
		return
	}
	d.plan(vs, hint.Dense)
	if d.size > e.size {
		hint.tables = seldomEvery - 1
		return
	}
	same := *hint // what is true of a table need not be of the series
	e.table.plan(d.values[:d.distinct], &same)
	e.offer(Dict, d.size+1+e.table.size)
}

// append writes the body that was planned.
func (e *encoder) append(dst []byte, vs []float64) []byte {
	switch e.form {
	case Constant:
		return appendConstant(dst, vs[0])
	case Repeat:
		dst = append(e.repeats.append(dst, vs), byte(e.changed.form))
		return e.changed.append(dst, e.repeats.values[:e.repeats.changes])
	case Decimal:
		return e.decimal.append(dst, len(vs))
	case Ordered:
		return e.ordered.append(dst, len(vs))
	case Dict:
		dst = append(e.dict.head(dst), byte(e.table.form))
		dst = e.table.append(dst, e.dict.values[:e.dict.distinct])
		return e.dict.append(dst, len(vs))
	case Front:
		return e.fronts.append(dst, vs)
	case XOR:
		return xor.Append(dst, vs)
	case DFCM:
		return dfcm.Append(dst, vs)
	}
	return appendRaw(dst, vs)
}
