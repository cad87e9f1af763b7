package timely

// reached is a change to in how many ways a place might be reached at a time.
type reached struct {
	at    int32
	time  Time
	delta int64
}

// before says that r's turn is before that of s (see position).
func (r *reached) before(s *reached, order []position) bool {
	if r.at == s.at {
		return r.time.Compare(s.time) < 0
	}
	p, q := &order[r.at], &order[s.at]
	for i, loop := range p.loops {
		if loop == 0 || loop != q.loops[i] {
			break
		}
		if r.time[i] != s.time[i] {
			return r.time[i] < s.time[i]
		}
	}
	return p.rank < q.rank
}

// worklist is a binary heap of changes, the one whose turn is first on top. Package
// container/heap would allocate for every element that passes through an interface.
type worklist []reached

func (w *worklist) push(r reached, order []position) {
	heap := append(*w, r)
	i := len(heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !r.before(&heap[parent], order) {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = r
	*w = heap
}

func (w *worklist) pop(order []position) reached {
	heap := *w
	top := heap[0]
	n := len(heap) - 1
	r := heap[n]
	heap = heap[:n]
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && heap[child+1].before(&heap[child], order) {
			child++
		}
		if !heap[child].before(&r, order) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	if n > 0 {
		heap[i] = r
	}
	*w = heap
	return top
}
