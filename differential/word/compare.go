package word

import (
	"cmp"
	"reflect"
	"strings"
	"unsafe"
)

// Compare orders words as their values: see the package comment. Those of interned types
// are ordered part by part, strings by their bytes.
func (c *Codec[T]) Compare(a, b uint64) int {
	if c.lexicon == nil || a == b {
		return cmp.Compare(a, b)
	}
	if c.order == nil {
		c.order = orderOf(parts(nil, reflect.TypeFor[T](), 0))
	}
	x, y := c.Value(a), c.Value(b)
	return c.order.compare(unsafe.Pointer(&x), unsafe.Pointer(&y))
}

// order is the parts of an interned type in the order in which they are compared: each a
// packed field, or a string.
type order []struct {
	field []field // nil for a string
	off   uintptr
}

func orderOf(ps []part) order {
	o := make(order, len(ps))
	for i, p := range ps {
		o[i].off = p.off
		if p.kind != text {
			o[i].field = fields([]part{{0, p.size, p.kind}})
		}
	}
	return o
}

func (o order) compare(x, y unsafe.Pointer) int {
	for i := range o {
		a, b := unsafe.Add(x, o[i].off), unsafe.Add(y, o[i].off)
		c := 0
		if o[i].field == nil {
			c = strings.Compare(*(*string)(a), *(*string)(b))
		} else {
			c = cmp.Compare(pack(o[i].field, a), pack(o[i].field, b))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
