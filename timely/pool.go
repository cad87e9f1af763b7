package timely

import (
	"reflect"
	"sync"
)

const (
	// poolBytes is about how much memory a worker keeps in empty buffers of one type.
	poolBytes = 1 << 20
	minPool   = 4
	maxPool   = 128
	// depotLen is how many bundles of buffers the workers of a process keep
	// for one another.
	depotLen = 8
)

// pool keeps a worker's empty buffers for records of one type. Buffers travel with
// the records in them, and come back to the pool of the worker that has used these up.
// Where they mostly travel one way, the depot evens it out.
type pool[D any] struct {
	free     [][]D
	limit    int
	length   int  // records that a buffer has room for
	pointers bool // records may point at others, which they must not keep alive
	depot    *depot[D]
}

// poolOf is the worker's pool for records of type D, in batches of some length.
func poolOf[D any](w *Worker, length int) *pool[D] {
	key := poolKey{reflect.TypeFor[D](), length}
	if p, ok := w.pools[key]; ok {
		return p.(*pool[D])
	}
	size := int(key.typ.Size()) * length
	p := &pool[D]{
		limit:    min(max(poolBytes/max(size, 1), minPool), maxPool),
		length:   length,
		pointers: hasPointers(key.typ),
		depot:    depotOf[D](w.depots, key),
	}
	if w.pools == nil {
		w.pools = map[poolKey]interface{ drain() }{}
	}
	w.pools[key] = p
	return p
}

type poolKey struct {
	typ    reflect.Type
	length int
}

// get is an empty buffer.
func (p *pool[D]) get() []D {
	n := len(p.free) - 1
	if n < 0 {
		if p.free = p.depot.take(p.free); len(p.free) == 0 {
			return make([]D, 0, p.length)
		}
		n = len(p.free) - 1
	}
	buf := p.free[n]
	p.free[n] = nil
	p.free = p.free[:n]
	return buf
}

// put takes a buffer over whose records were used up. It leaves alone what is no
// buffer, but some slice of the program's that was passed on.
func (p *pool[D]) put(buf []D) {
	if cap(buf) < p.length || cap(buf) > 2*p.length {
		return
	}
	if p.pointers {
		clear(buf)
	}
	if len(p.free) >= p.limit {
		half := p.free[p.limit/2:]
		p.depot.give(half)
		clear(half)
		p.free = p.free[:p.limit/2]
	}
	p.free = append(p.free, buf[:0])
}

// drain gives the memory back.
func (p *pool[D]) drain() {
	p.free = nil
	p.depot.drain()
}

// depots are the depots of the workers of a process.
type depots struct {
	mu  sync.Mutex
	all map[poolKey]any
}

// depot keeps bundles of buffers that one worker has too many of, for others that
// have none. The nil depot keeps none.
type depot[D any] struct {
	mu      sync.Mutex
	bundles [][][]D
}

func depotOf[D any](all *depots, key poolKey) *depot[D] {
	if all == nil {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if d, ok := all.all[key]; ok {
		return d.(*depot[D])
	}
	if all.all == nil {
		all.all = map[poolKey]any{}
	}
	d := &depot[D]{}
	all.all[key] = d
	return d
}

// give adds a copy of a bundle, if there is room.
func (d *depot[D]) give(bundle [][]D) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.bundles); n == cap(d.bundles) && n < depotLen {
		d.bundles = append(d.bundles, nil)[:n]
	}
	if n := len(d.bundles); n < depotLen {
		// The slot has the memory of the bundle that was there before.
		d.bundles = d.bundles[:n+1]
		d.bundles[n] = append(d.bundles[n][:0], bundle...)
	}
}

// take appends a bundle, if there is one.
func (d *depot[D]) take(into [][]D) [][]D {
	if d == nil {
		return into
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.bundles) - 1
	if n < 0 {
		return into
	}
	into = append(into, d.bundles[n]...)
	clear(d.bundles[n])
	d.bundles = d.bundles[:n]
	return into
}

func (d *depot[D]) drain() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bundles = nil
}

// hasPointers says that values of a type may refer to others, so that a buffer of
// them is cleared before it is kept.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if hasPointers(field.Type) {
				return true
			}
		}
		return false
	}
	return true
}
