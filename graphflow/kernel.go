package graphflow

// sumRows appends an update for each row of a task: the sum of what its sources
// hand out.
func (s *share) sumRows(t task, src []float32, out []update) []update {
	sources := s.sources[t.firstEdge : t.firstEdge+t.edges]
	lengths := s.lengths[t.row : t.row+t.rows]
	for i, local := range s.locals[t.row : t.row+t.rows] {
		n := lengths[i]
		row := sources[:n]
		sources = sources[n:]
		var sum float32
		if n < longRow {
			for _, j := range row {
				sum += src[j]
			}
		} else {
			sum = gather(src, row)
		}
		out = append(out, update{local, sum})
	}
	return out
}

// gatherPiece bounds how many values are added up before their sum is added to others: in a
// long sum of float32 small addends get lost.
const gatherPiece = 1 << 12

// longRow is from how many edges on a row is worth four sums, and a call.
const longRow = 16

// gather adds up x at the given indices, in four sums, so that no addition waits for the one before.
func gather(x []float32, indices []uint32) float32 {
	if len(indices) > gatherPiece {
		return gatherLong(x, indices)
	}
	var a, b, c, d float32
	for len(indices) >= 4 {
		i := (*[4]uint32)(indices)
		a += x[i[0]]
		b += x[i[1]]
		c += x[i[2]]
		d += x[i[3]]
		indices = indices[4:]
	}
	for _, i := range indices {
		a += x[i]
	}
	return (a + b) + (c + d)
}

func gatherLong(x []float32, indices []uint32) float32 {
	var sum float64
	for len(indices) > 0 {
		n := min(len(indices), gatherPiece)
		sum += float64(gather(x, indices[:n]))
		indices = indices[n:]
	}
	return float32(sum)
}

// edgeUpdates appends an update for each edge of a task, to blocks that are handed
// to full as they fill. It returns the last.
func (s *share) edgeUpdates(t task, src []float32, out []update, full func([]update) []update) []update {
	sources := s.sources[t.firstEdge : t.firstEdge+t.edges]
	for i, local := range s.locals[t.row : t.row+t.rows] {
		n := int(s.lengths[t.row+i])
		row := sources[:n]
		sources = sources[n:]
		for len(row) > 0 {
			n := min(len(row), cap(out)-len(out))
			for _, j := range row[:n] {
				out = append(out, update{local, src[j]})
			}
			if row = row[n:]; len(out) == cap(out) {
				out = full(out)
			}
		}
	}
	return out
}

// addUpdates adds updates of different vertices to the sums of a range.
func addUpdates(acc []float32, updates []update) {
	for _, u := range updates {
		acc[u.local] += u.value
	}
}

// addRuns adds updates, several of one vertex after another. They are summed up before they are
// added, as long sums of float32 lose small addends.
func addRuns(acc []float32, updates []update) {
	for i := 0; i < len(updates); {
		local, sum := updates[i].local, updates[i].value
		for i++; i < len(updates) && updates[i].local == local; i++ {
			sum += updates[i].value
		}
		acc[local] += sum
	}
}

// settle turns the sums of an iteration into ranks, and those into what vertices hand out in
// the next, and clears the sums.
func settle(base float32, acc, inv, src []float32) {
	acc, inv = acc[:len(src)], inv[:len(src)]
	for v, sum := range acc {
		src[v] = (base + sum) * inv[v]
	}
	clear(acc)
}
