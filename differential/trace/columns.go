package trace

// Columns appends to a list the columns of keys, or of values, of all blocks of the trace: for whoever must
// know which words are in use.
func (t *Trace) Columns(values bool, to [][]uint64) [][]uint64 {
	for i := range t.layers {
		for _, b := range t.layers[i].batches() {
			to = b.columns(values, to)
		}
	}
	for _, b := range t.recent {
		to = b.columns(values, to)
	}
	return to
}

// Columns appends to a list the columns of keys, or of values, that are staged now.
func (b *Batcher) Columns(values bool, to [][]uint64) [][]uint64 {
	for _, s := range b.stages {
		if values {
			to = append(to, s.vals)
		} else {
			to = append(to, s.keys)
		}
		for _, run := range s.runs {
			to = run.columns(values, to)
		}
	}
	return to
}

// columns appends the columns of a batch, which may be nil.
func (b *Batch) columns(values bool, to [][]uint64) [][]uint64 {
	if b == nil {
		return to
	}
	for _, block := range b.blocks {
		if values {
			to = append(to, block.vals)
		} else {
			to = append(to, block.keys)
		}
	}
	return to
}
