package query

import (
	"context"
	"sync"
	"sync/atomic"
)

// Times in the direction of reading are keys: time^mask, which ascend also where times descend.

// merge emits the rows of some lanes by time. It takes the range in windows that hold about budget rows: reads all lanes
// in a window, some at a time, merges, and goes on, so that no lane has to stay open and memory does not depend on the
// number of points. A window that turns out too full is cut while it is read; the next one has the width of the last.
func (r *run) merge(e *emitter, a, b, workers int) error {
	p := r.p
	mask, step := int64(0), uint64(1)
	if p.q.Backward {
		mask = -1
	}
	if p.q.Kind == GroupAggregate || p.q.Kind == GroupAggregateJoin {
		step = uint64(p.q.Step)
	}
	first, last := p.q.From^mask, p.q.To^mask
	if mask != 0 {
		first, last = last, first
	}
	if first > last {
		return nil
	}
	budget := max(r.sizes.window, 2*(b-a))
	if p.q.Limit > 0 && len(p.q.Apply) == 0 && p.q.Limit+p.q.Offset < uint64(budget) {
		budget = min(budget, max(int(p.q.Limit+p.q.Offset), 2*(b-a), 1024))
	}

	// One goroutine reads windows, this one merges the window before.
	ctx, cancel := context.WithCancel(e.ctx)
	windows := make(chan *window)
	var failed error
	go func() {
		defer close(windows)
		width := uint64(last) - uint64(first)
		for {
			end := last
			if uint64(last)-uint64(first) > width {
				end = first + int64(width)
			}
			w := &window{run: r, lane: a, first: first, mask: mask, step: step, budget: int64(budget)}
			if failed = w.read(ctx, a, b, end, workers); failed != nil {
				w.free()
				return
			}
			end = w.last.Load()
			width = uint64(end) - uint64(first)
			if rows := w.rows.Load(); rows < int64(budget)/2 {
				factor := uint64(2)
				if rows < int64(budget)/64 {
					factor = 64
				}
				if width = (width + 1) * factor; width/factor < uint64(end)-uint64(first) || width == 0 {
					width = 1<<64 - 1
				} else {
					width--
				}
			}
			select {
			case windows <- w:
			case <-ctx.Done():
				failed = context.Cause(ctx)
				w.free()
				return
			}
			if end == last {
				return
			}
			first = end + 1
		}
	}()
	var err error
	for w := range windows {
		if err == nil {
			if err = w.merge(e); err != nil {
				cancel()
			}
		}
		w.free()
	}
	cancel()
	if err == nil {
		err = failed
	}
	return err
}

// window is the rows of some lanes within keys.
type window struct {
	run    *run
	lane   int   // the first
	first  int64 // key
	last   atomic.Int64
	mask   int64
	step   uint64
	budget int64
	rows   atomic.Int64
	bytes  atomic.Int64
	parts  []part // in the order of lanes
}

// part is the rows of some lanes, one behind the other.
type part struct {
	columns
	lanes []int
	ends  []int // of each of lanes
}

// lower cuts the window off behind a key.
func (w *window) lower(last int64) {
	for {
		now := w.last.Load()
		if last >= now || w.last.CompareAndSwap(now, last) {
			return
		}
	}
}

// halve cuts the window to the half, at the begin of a step; it reports false if it is a step wide.
func (w *window) halve() bool {
	last := w.last.Load()
	steps := (uint64(last) - uint64(w.first)) / w.step // but one
	if steps == 0 {
		return false
	}
	w.lower(w.first + int64((steps-steps/2)*w.step) - 1)
	return true
}

// free gives the memory of the window back.
func (w *window) free() { w.run.memory.used.Add(-w.bytes.Load()) }

func (w *window) read(ctx context.Context, a, b int, last int64, workers int) error {
	w.last.Store(last)
	per := max((b-a+4*workers-1)/(4*workers), 1)
	w.parts = make([]part, (b-a+per-1)/per)
	workers = min(workers, len(w.parts))
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, workers)
	work := func(i int) {
		for {
			n := int(next.Add(1)) - 1
			if n >= len(w.parts) {
				return
			}
			for lane := a + n*per; lane < min(a+(n+1)*per, b); lane++ {
				if errs[i] = w.readLane(ctx, &w.parts[n], lane); errs[i] != nil {
					next.Add(int64(len(w.parts)))
					return
				}
			}
		}
	}
	for i := 1; i < workers; i++ {
		group.Go(func() { work(i) })
	}
	work(0)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for i := range w.parts {
		w.trim(&w.parts[i])
	}
	return nil
}

func (w *window) readLane(ctx context.Context, p *part, lane int) error {
	last := w.last.Load()
	from, to := w.first^w.mask, last^w.mask
	if w.mask != 0 {
		from, to = to, from
	}
	cur, err := w.run.p.open(ctx, lane, from, to)
	if err != nil {
		return err
	}
	defer cur.close()
	p.width = w.run.width
	begin, size := p.len(), min(64, w.run.sizes.batch)
	for more := true; more; {
		n := p.len()
		if more, err = cur.next(&p.columns, size); err != nil {
			return err
		}
		size = min(2*size, w.run.sizes.batch)
		got := p.len() - n
		w.rows.Add(int64(got))
		bytes := got * w.run.rowBytes
		for i := n; i < len(p.texts); i++ {
			bytes += len(p.texts[i])
		}
		w.bytes.Add(int64(bytes))
		if err := w.run.memory.take(bytes); err != nil {
			w.bytes.Add(-int64(bytes))
			return err
		}
		if int64(p.len()-begin) > w.budget {
			// This lane alone fills the window. Rows of the last key may still come: they are for the next one.
			if key := p.times[p.len()-1] ^ w.mask; key > w.first {
				w.lower(key - 1)
				break
			}
		}
	}
	if p.len() > begin {
		p.lanes, p.ends = append(p.lanes, lane), append(p.ends, p.len())
	}
	if w.rows.Load() > w.budget && w.halve() {
		w.trim(p)
	}
	return nil
}

// trim drops rows behind the window's end.
func (w *window) trim(p *part) {
	last := w.last.Load()
	from, to := 0, 0
	for i, end := range p.ends {
		n := from
		for n < end && p.times[n]^w.mask <= last {
			n++
		}
		if to != from {
			copy(p.times[to:], p.times[from:n])
			copy(p.values[to*p.width:], p.values[from*p.width:n*p.width])
			if len(p.missing) > 0 {
				copy(p.missing[to:], p.missing[from:n])
			}
			if len(p.texts) > 0 {
				copy(p.texts[to:], p.texts[from:n])
			}
		}
		to += n - from
		from, p.ends[i] = end, to
	}
	w.rows.Add(int64(to - p.len()))
	dropped := (p.len() - to) * w.run.rowBytes
	w.bytes.Add(-int64(dropped))
	w.run.memory.used.Add(-int64(dropped))
	p.cut(to)
}

// strand is what is left to merge of a lane.
type strand struct {
	key     int64
	at, end int
	part    *part
	label   uint32
}

// merge emits the rows by key; of rows with one key, those of the first lane come first, of the last one if backward.
func (w *window) merge(e *emitter) error {
	r := w.run
	var s []strand
	for i := range w.parts {
		p := &w.parts[i]
		begin := 0
		for j, lane := range p.lanes {
			// A series whose name is gone was deleted meanwhile.
			if end := p.ends[j]; end > begin && r.name(int(r.p.label[lane])) != "" {
				s = append(s, strand{p.times[begin] ^ w.mask, begin, end, p, r.p.label[lane] - r.base(w.lane)})
			}
			begin = p.ends[j]
		}
	}
	if w.mask != 0 {
		for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
			s[i], s[j] = s[j], s[i]
		}
	}
	out := r.batch(w.lane)
	full := func() error {
		err := e.emit(out)
		out = r.batch(w.lane)
		return err
	}
	t := newTree(s)
	for len(s) > 0 {
		top := &s[t.best()]
		p, at := top.part, top.at
		out.Series = append(out.Series, top.label)
		out.Times = append(out.Times, p.times[at])
		if p.width == 1 {
			out.Values = append(out.Values, p.values[at])
		} else {
			out.Values = append(out.Values, p.values[at*p.width:(at+1)*p.width]...)
		}
		if len(p.missing) > 0 {
			out.Missing = append(out.Missing, p.missing[at])
		}
		if len(p.texts) > 0 {
			out.Texts = append(out.Texts, p.texts[at])
		}
		if len(out.Series) == r.sizes.batch {
			if err := full(); err != nil {
				return err
			}
		}
		top.at++
		if top.at == top.end {
			if !t.remove() {
				break
			}
			continue
		}
		top.key = p.times[top.at] ^ w.mask
		t.fix()
	}
	return e.emit(out)
}

// tree is a heap of strands: by key, then by index.
type tree struct {
	s    []strand
	heap []int32
}

func newTree(s []strand) *tree {
	t := &tree{s, make([]int32, len(s))}
	for i := range s {
		t.heap[i] = int32(i)
	}
	for i := len(s)/2 - 1; i >= 0; i-- {
		t.down(i)
	}
	return t
}

func (t *tree) best() int32 { return t.heap[0] }

func (t *tree) less(a, b int32) bool {
	x, y := t.s[a].key, t.s[b].key
	return x < y || x == y && a < b
}

func (t *tree) down(i int) {
	h := t.heap
	moving := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && t.less(h[c+1], h[c]) {
			c++
		}
		if !t.less(h[c], moving) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = moving
}

func (t *tree) fix() { t.down(0) }

// remove takes the best strand out and reports whether there is another.
func (t *tree) remove() bool {
	n := len(t.heap) - 1
	t.heap[0] = t.heap[n]
	t.heap = t.heap[:n]
	if n > 0 {
		t.down(0)
	}
	return n > 0
}
