package flat

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"sync"
	"time"
)

// plan says how elements of a type are written in a block, and how their owned
// data are found.
type plan struct {
	typ    reflect.Type
	err    error // why there is no plan; nothing else is set then
	size   int   // bytes of an element in memory
	fixed  int   // bytes of its fixed part, at least 1
	align  int   // of a block of elements: that of the type if it is flat, else 1
	hash   uint32
	digest uint64 // of which hash is a part

	// flat says that the type holds no pointers, so that a block is its memory.
	flat         bool
	holes, bools []span // of a flat type: its padding, its booleans

	// ops are the pieces of a type that is not flat, by offset.
	ops []op

	// Every plan is compiled for one outermost type. slot numbers the plans for
	// types that are not flat and belong to others: each has an arena of its
	// own when a frame is decoded.
	slot int

	// Of the outermost plan only.
	alignAll int     // the largest align of any block
	owned    []*plan // by slot
	arenas   sync.Pool
}

type opKind uint8

const (
	opRun     opKind = iota // n bytes, as they are but for holes
	opWord                  // a run of eight bytes without holes
	opString                // a string
	opSlice                 // a slice of child
	opPointer               // a pointer to child
	opArray                 // n times child, which is not flat
)

// op is how one piece of a value is written.
type op struct {
	kind         opKind
	off          int // in memory
	wire         int // in the fixed part
	n            int
	child        *plan
	holes, bools []span // of a run
}

// wireWidth returns how many bytes o takes in the fixed part.
func (o *op) wireWidth() int {
	switch o.kind {
	case opString, opSlice, opPointer:
		return lengthSize
	case opArray:
		return o.n * o.child.fixed
	}
	return o.n
}

// badType is why a type has no plan; path leads to the part of it that is to
// blame.
type badType struct {
	path string
	typ  reflect.Type
	why  string
}

func (e *badType) Error() string { return fmt.Sprintf("%s is %s: %s", e.path, e.typ, e.why) }

// under prepends a step to the path of err.
func under(step string, err error) error {
	if bad, ok := err.(*badType); ok {
		bad.path = step + bad.path
	}
	return err
}

// compiler compiles the plan for one outermost type. Types within it are
// compiled once, however often they appear.
type compiler struct {
	done  map[reflect.Type]*plan // nil while the type is being compiled
	owned []*plan
	align int
}

// compile returns the plan for t as an outermost type.
func compile(t reflect.Type) *plan {
	c := compiler{done: map[reflect.Type]*plan{}, align: 1}
	p, err := c.plan(t)
	if err != nil {
		return &plan{typ: t, err: fmt.Errorf("flat: cannot encode %s: %w", t, under(t.String(), err))}
	}
	c.align = max(c.align, p.align)
	p.alignAll = c.align
	p.owned = c.owned
	p.arenas.New = func() any { return newArenas(p.owned) }
	return p
}

func (c *compiler) plan(t reflect.Type) (*plan, error) {
	if p, seen := c.done[t]; seen {
		if p == nil {
			return nil, &badType{typ: t, why: "a type that contains itself has no bound on its depth; keep the values in a slice and refer to them by index"}
		}
		return p, nil
	}
	c.done[t] = nil
	p, err := c.compile(t)
	if err != nil {
		return nil, err
	}
	c.done[t] = p
	return p, nil
}

func (c *compiler) compile(t reflect.Type) (*plan, error) {
	size := int(t.Size())
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s %d ", t.Kind(), size)
	mix := func(p *plan) { _ = binary.Write(sum, binary.LittleEndian, p.digest) } // a hash takes all bytes

	if t == reflect.TypeFor[time.Location]() || t.PkgPath() == "unique" && strings.HasPrefix(t.Name(), "Handle[") {
		return nil, &badType{typ: t, why: "its pointer means more than what it points to; keep what it stands for, such as nanoseconds or a string"}
	}

	var ops []op
	switch t.Kind() {
	case reflect.Bool:
		ops = []op{{n: size, bools: []span{{n: size}}}}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		ops = []op{{n: size}}
	case reflect.String:
		ops = []op{{kind: opString}}
	case reflect.Slice, reflect.Pointer:
		kind, step := opSlice, "[]"
		if t.Kind() == reflect.Pointer {
			kind, step = opPointer, ""
		}
		child, err := c.plan(t.Elem())
		if err != nil {
			return nil, under(step, err)
		}
		c.own(child)
		mix(child)
		ops = []op{{kind: kind, child: child}}
	case reflect.Array:
		fmt.Fprintf(sum, "%d ", t.Len())
		if t.Len() == 0 {
			break // of whatever: there is none
		}
		child, err := c.plan(t.Elem())
		if err != nil {
			return nil, under("[]", err)
		}
		mix(child)
		if child.flat {
			ops = []op{{n: size, holes: repeat(child.holes, t.Len(), child.size), bools: repeat(child.bools, t.Len(), child.size)}}
		} else {
			ops = []op{{kind: opArray, n: t.Len(), child: child}}
		}
	case reflect.Struct:
		end := 0
		for i := range t.NumField() {
			f := t.Field(i)
			child, err := c.plan(f.Type)
			if err != nil {
				return nil, under("."+f.Name, err)
			}
			fmt.Fprintf(sum, "%s %d ", f.Name, f.Offset)
			mix(child)
			off := int(f.Offset)
			ops = addHole(ops, end, off)
			switch {
			case child.flat && f.Name == "_":
				ops = addHole(ops, off, off+child.size)
			case child.flat:
				ops = addOp(ops, op{off: off, n: child.size, holes: child.holes, bools: child.bools})
			default:
				for _, o := range child.ops {
					o.off += off
					ops = addOp(ops, o)
				}
			}
			end = off + child.size
		}
		ops = addHole(ops, end, size)
	default:
		return nil, &badType{typ: t, why: refusal(t.Kind())}
	}
	digest := sum.Sum64()
	return finish(&plan{typ: t, size: size, digest: digest, hash: uint32(digest ^ digest>>32), ops: ops}), nil
}

// refusal says why a kind has no bytes.
func refusal(k reflect.Kind) string {
	switch k {
	case reflect.Map:
		return "a map has no bytes of its own; keep a slice of its pairs"
	case reflect.Interface:
		return "the type behind an interface is unknown to whoever decodes; keep one field for each type"
	}
	return fmt.Sprintf("a %s means nothing outside its process", k)
}

// addHole adds the bytes [from, to) of padding to ops.
func addHole(ops []op, from, to int) []op {
	if from == to {
		return ops
	}
	return addOp(ops, op{off: from, n: to - from, holes: []span{{n: to - from}}})
}

// addOp adds o, which begins where the last of ops ends, to ops; runs become
// one. The spans of o are counted from its own offset.
func addOp(ops []op, o op) []op {
	if o.kind == opWord {
		o.kind = opRun
	}
	if o.kind == opRun && o.n == 0 {
		return ops
	}
	if k := len(ops) - 1; k >= 0 && ops[k].kind == opRun && o.kind == opRun {
		last := &ops[k]
		last.holes = shift(last.holes[:len(last.holes):len(last.holes)], o.holes, last.n)
		last.bools = shift(last.bools[:len(last.bools):len(last.bools)], o.bools, last.n)
		last.n += o.n
		return ops
	}
	return append(ops, o)
}

// finish sets what follows from the ops of p.
func finish(p *plan) *plan {
	wire := 0
	p.flat = true
	for i := range p.ops {
		o := &p.ops[i]
		p.flat = p.flat && o.kind == opRun
		o.wire = wire
		wire += o.wireWidth()
		if o.kind == opRun && o.n == 8 && len(o.holes) == 0 {
			o.kind = opWord
		}
	}
	p.fixed, p.align = wire, 1
	if p.flat {
		p.fixed, p.align = max(1, p.size), p.typ.Align()
		if len(p.ops) > 0 {
			p.holes, p.bools = p.ops[0].holes, p.ops[0].bools
		}
		if p.size == 0 {
			p.align = 1
		}
	}
	return p
}

// own gives p, whose elements slices or pointers refer to, what decoding needs.
func (c *compiler) own(p *plan) {
	c.align = max(c.align, p.align)
	if p.flat {
		return
	}
	for _, q := range c.owned {
		if q == p {
			return
		}
	}
	p.slot = len(c.owned)
	c.owned = append(c.owned, p)
}
