package apply

import (
	"math"
	"strings"

	"weir/series/query/expr"
	"weir/series/query/rows"
)

// rate is the slope, a second, from the value before. The first value of a series has none before, and is left out.
type rate struct {
	state         // the values before
	times []int64 // and their times
}

func (r *rate) process(b *rows.Batch) {
	w, n := b.Width, 0
	for i := range b.Len() {
		series := b.Number(i)
		last := r.of(series) // w values, then w words that say whether they are known
		if need := (series + 1) * w; need > len(r.times) {
			r.times = append(r.times, make([]int64, need-len(r.times))...)
		}
		times := r.times[series*w : (series+1)*w]
		row, gaps := b.Row(i), b.Gaps(i)
		for c, v := range row {
			if gaps>>c&1 == 1 {
				continue
			}
			if last[w+c] == 0 {
				gaps |= 1 << c
			} else {
				row[c] = (v - last[c]) / seconds(times[c], b.Times[i])
			}
			last[c], last[w+c], times[c] = v, 1, b.Times[i]
		}
		if gaps == b.Full() {
			continue
		}
		b.SetGaps(i, gaps)
		b.Move(n, i)
		n++
	}
	b.Slice(0, n)
}

func (r *rate) bytes() int { return r.state.bytes() + 8*cap(r.times) }

// seconds is how long it is from one time to another, less than 0 if it is back.
func seconds(from, to int64) float64 {
	if d := to - from; (d < 0) == (to < from) {
		return float64(d) / 1e9
	}
	return float64(to)/1e9 - float64(from)/1e9
}

type accumulate struct{ state }

func (a *accumulate) process(b *rows.Batch) {
	for i := range b.Len() {
		sums, gaps := a.of(b.Number(i)), b.Gaps(i)
		for c, v := range b.Row(i) {
			if gaps>>c&1 == 0 {
				sums[c] += v
				b.Row(i)[c] = sums[c]
			}
		}
	}
}

// cma is the mean of all values so far.
type cma struct{ state } // sums, counts

func (a *cma) process(b *rows.Batch) {
	w := b.Width
	for i := range b.Len() {
		s, gaps := a.of(b.Number(i)), b.Gaps(i)
		for c, v := range b.Row(i) {
			if gaps>>c&1 == 0 {
				s[c] += v
				s[w+c]++
				b.Row(i)[c] = s[c] / s[w+c]
			}
		}
	}
}

type abs struct{}

func (abs) process(b *rows.Batch) {
	for i, v := range b.Values {
		b.Values[i] = math.Abs(v)
	}
}

type scale struct{ weights []float64 }

func (s *scale) process(b *rows.Batch) {
	for i := range b.Len() {
		row := b.Row(i)
		for c := range min(len(row), len(s.weights)) {
			row[c] *= s.weights[c]
		}
	}
}

// fold makes one value of all of a row: the first, op the second, and so on.
type fold struct {
	op     string
	ignore bool
}

func (f *fold) process(b *rows.Batch) {
	unit := 0.0
	if f.op == "multiply" || f.op == "divide" {
		unit = 1
	}
	for i := range b.Len() {
		gaps := b.Gaps(i)
		var acc float64
		for c, v := range b.Row(i) {
			if gaps>>c&1 == 1 {
				if v = unit; !f.ignore {
					v = math.NaN()
				}
			}
			switch {
			case c == 0:
				acc = v
			case f.op == "sum":
				acc += v
			case f.op == "diff":
				acc -= v
			case f.op == "multiply":
				acc *= v
			default:
				acc /= v
			}
		}
		b.Values[i] = acc // its place is not behind the row's
	}
	b.Values, b.Width, b.Missing = b.Values[:b.Len()], 1, b.Missing[:0]
}

// formula is eval.
type formula struct {
	e      *expr.Expr
	vars   []Variable
	values []float64
}

func (p *Pipeline) formula(text string) (any, error) {
	if text == "" {
		return nil, wrong("'expr' field required")
	}
	var known []string
	for _, v := range p.env.Variables {
		known = append(known, v.Name)
	}
	e, err := expr.Parse(text, known)
	if err != nil {
		return nil, wrong("%s", err)
	}
	f := &formula{e: e, vars: p.env.Variables, values: make([]float64, len(known))}
	// A formula behind this one sees its result under no name.
	p.env.Width, p.env.Variables = 1, nil
	return f, nil
}

func (f *formula) process(b *rows.Batch) {
	used := f.e.Used()
	for i := range b.Len() {
		row, gaps := b.Row(i), b.Gaps(i)
		for _, u := range used {
			v := &f.vars[u]
			f.values[u] = 0
			if gaps>>v.Column&1 == 0 && (v.Series == "" || strings.HasPrefix(b.Name(i), v.Series)) {
				f.values[u] = row[v.Column]
			}
		}
		b.Values[i] = f.e.Eval(f.values)
	}
	b.Values, b.Width, b.Missing = b.Values[:b.Len()], 1, b.Missing[:0]
}
