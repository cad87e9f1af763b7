package apply

import "weir/series/query/rows"

// warmUp is how many values ewma starts from.
const warmUp = 11

// ewma forecasts each value by the average of those before, in which the weight of each is less by a factor than that
// of the next. The first values are their own forecast.
type ewma struct {
	state // sums or averages, counts up to warmUp
	decay float64
	err   bool
}

func (e *ewma) process(b *rows.Batch) {
	w := b.Width
	for i := range b.Len() {
		s, gaps, row := e.of(b.Number(i)), b.Gaps(i), b.Row(i)
		for c, v := range row {
			if gaps>>c&1 == 1 {
				continue
			}
			forecast := v
			if s[w+c] < warmUp {
				s[c] += v
				if s[w+c]++; s[w+c] == warmUp {
					s[c] = e.decay*v + (1-e.decay)*(s[c]/warmUp)
				}
			} else {
				forecast = s[c]
				s[c] = e.decay*v + (1-e.decay)*s[c]
			}
			if row[c] = forecast; e.err {
				row[c] = v - forecast
			}
		}
	}
}

// sma forecasts each value by the mean of the window before it, of as many values as there are. The first value is its
// own forecast.
type sma struct {
	window, width int
	err           bool
	rings         [][]float64 // of each series and column
	next          []int
	held          int // values that rings have room for
}

func (m *sma) process(b *rows.Batch) {
	for i := range b.Len() {
		base, gaps, row := b.Number(i)*m.width, b.Gaps(i), b.Row(i)
		for len(m.rings) < base+m.width {
			m.rings, m.next = append(m.rings, nil), append(m.next, 0)
		}
		for c, v := range row {
			if gaps>>c&1 == 1 {
				continue
			}
			ring := m.rings[base+c]
			forecast := v
			if len(ring) > 0 {
				// Added up anew: a running sum would keep the rounding, and the NaN, of what has left the window.
				forecast = 0
				for _, x := range ring {
					forecast += x
				}
				forecast /= float64(len(ring))
			}
			if len(ring) < m.window {
				m.rings[base+c] = append(ring, v)
				m.held += cap(m.rings[base+c]) - cap(ring)
			} else {
				ring[m.next[base+c]] = v
				m.next[base+c] = (m.next[base+c] + 1) % m.window
			}
			if row[c] = forecast; m.err {
				row[c] = v - forecast
			}
		}
	}
}

func (m *sma) bytes() int { return cap(m.rings)*24 + cap(m.next)*8 + m.held*8 }
