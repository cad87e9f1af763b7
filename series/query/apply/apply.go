// Package apply changes the rows of an answer on their way out: rates, sums, formulas, forecasts, and the series that
// weigh most. Functions run one after the other; each keeps what it must know of each series and column.
//
//	p, err := apply.New([]apply.Step{{Name: "scale", Weights: []float64{8}}, {Name: "rate"}}, env)
//	err = p.Process(batch) // in place, batch after batch
//	last, err := p.Finish()
package apply

import (
	"errors"
	"fmt"
	"slices"

	"weir/series/query/rows"
)

// Step is one function with its parameters; each needs only some of them.
type Step struct {
	Name          string
	Weights       []float64 // scale
	IgnoreMissing bool      // sum, diff, multiply, divide
	Expr          string    // eval
	Decay         float64   // ewma, ewma-error
	Window        int       // sma, sma-error: how many values
	N             int       // top: how many series
	Error         float64   // frequent-items, heavy-hitters: of the estimate, as part of the whole
	Portion       float64   // frequent-items, heavy-hitters: of the whole, from which on a series is named
}

// Names is the names of all functions, sorted.
func Names() []string {
	return []string{
		"abs", "accumulate", "cma", "cusum", "diff", "divide", "eval", "ewma", "ewma-error", "frequent-items",
		"heavy-hitters", "multiply", "rate", "scale", "sma", "sma-error", "sum", "top",
	}
}

// Env is what the rows look like before the first step.
type Env struct {
	Shape   rows.Shape
	Width   int
	Regular bool // one row a span of time
	// Variables are the names that formulas may have: of each, its column, and in answers whose rows are of one metric
	// each, the begin of the names of series that it belongs to ("" is all).
	Variables []Variable
}

// Variable is a column by name.
type Variable struct {
	Name, Series string
	Column       int
}

var (
	// ErrCardinality is what functions for single values say of tuples.
	ErrCardinality = errors.New("high cardinality, lower cardinality required")
	// ErrIrregular is what forecasts say of points that are not a step apart.
	ErrIrregular = errors.New("regullar series expected")
)

// A StepError says what is wrong with a step.
type StepError struct{ Reason string }

func (e *StepError) Error() string { return "Query object has invalid `apply` field " + e.Reason }

func wrong(format string, args ...any) error { return &StepError{fmt.Sprintf(format, args...)} }

// stage changes rows in place.
type stage interface {
	process(b *rows.Batch)
}

// collector takes all rows and answers at the end.
type collector interface {
	process(b *rows.Batch)
	finish() *rows.Batch
}

// Pipeline is the functions of one query. It is not for several goroutines at once.
type Pipeline struct {
	stages []any
	env    Env
}

// New prepares steps. An error is a *StepError, ErrCardinality or ErrIrregular.
func New(steps []Step, env Env) (*Pipeline, error) {
	p := &Pipeline{env: env}
	for _, s := range steps {
		st, err := p.stage(s)
		if err != nil {
			return nil, err
		}
		p.stages = append(p.stages, st)
	}
	return p, nil
}

// Shape is what rows look like behind the last step, and Width the number of their values.
func (p *Pipeline) Shape() rows.Shape { return p.env.Shape }

// Width is the number of values of a row behind the last step.
func (p *Pipeline) Width() int { return p.env.Width }

// Bytes is about the memory that the functions hold.
func (p *Pipeline) Bytes() int {
	n := 0
	for _, s := range p.stages {
		if m, ok := s.(interface{ bytes() int }); ok {
			n += m.bytes()
		}
	}
	return n
}

func (p *Pipeline) stage(s Step) (any, error) {
	w := p.env.Width
	switch s.Name {
	case "":
		return nil, wrong("No such node (name)")
	case "rate":
		return &rate{state: state{width: 2 * w}}, nil
	case "accumulate", "cusum":
		return &accumulate{state{width: w}}, nil
	case "cma":
		return &cma{state{width: 2 * w}}, nil
	case "abs":
		return abs{}, nil
	case "scale":
		return &scale{s.Weights}, nil
	case "sum", "diff", "multiply", "divide":
		p.env.Width = 1
		p.env.Variables = nil
		return &fold{s.Name, s.IgnoreMissing}, nil
	case "eval":
		return p.formula(s.Expr)
	case "ewma", "ewma-error":
		if !p.env.Regular {
			return nil, ErrIrregular
		}
		return &ewma{state: state{width: 2 * w}, decay: s.Decay, err: s.Name == "ewma-error"}, nil
	case "sma", "sma-error":
		if s.Window < 1 || s.Window > 1<<20 {
			return nil, wrong("`window-width` is %d, expected 1 to %d", s.Window, 1<<20)
		}
		return &sma{window: s.Window, width: w, err: s.Name == "sma-error"}, nil
	case "top", "frequent-items", "heavy-hitters":
		if w != 1 {
			return nil, ErrCardinality
		}
		p.env.Regular = false
		if s.Name == "top" {
			if s.N < 1 {
				return nil, wrong("`N` is %d, expected at least 1", s.N)
			}
			return &top{n: s.N}, nil
		}
		switch {
		case s.Error == 0:
			return nil, wrong("`error` can't be 0.")
		case !(s.Error > 0 && s.Error <= 1):
			return nil, wrong("`error` is %v, expected more than 0, at most 1", s.Error)
		case !(s.Portion >= 0 && s.Portion <= 1):
			return nil, wrong("`portion` is %v, expected 0 to 1", s.Portion)
		}
		return newSpaceSaver(s), nil
	}
	return nil, wrong("bad query, unknown tag: %s", s.Name)
}

// Process changes b in place; rows may leave it.
func (p *Pipeline) Process(b *rows.Batch) { process(p.stages, b) }

func process(stages []any, b *rows.Batch) {
	for _, s := range stages {
		if b.Len() == 0 {
			return
		}
		if c, ok := s.(collector); ok {
			c.process(b)
			b.Slice(0, 0)
			return
		}
		s.(stage).process(b)
	}
}

// Finish returns the rows that were held back until the end, nil if none.
func (p *Pipeline) Finish() *rows.Batch {
	for i, s := range p.stages {
		if c, ok := s.(collector); ok {
			b := c.finish()
			process(p.stages[i+1:], b)
			// A later collector has taken them all: it is its turn.
			if i2 := slices.IndexFunc(p.stages[i+1:], func(s any) bool { _, ok := s.(collector); return ok }); i2 >= 0 {
				continue
			}
			return b
		}
	}
	return nil
}

// state is width numbers for each series.
type state struct {
	width int
	all   []float64
}

// of returns the numbers of a series, which are 0 at first.
func (s *state) of(series int) []float64 {
	if need := (series + 1) * s.width; need > len(s.all) {
		s.all = append(s.all, make([]float64, need-len(s.all))...)
	}
	return s.all[series*s.width : (series+1)*s.width]
}

func (s *state) bytes() int { return 8 * cap(s.all) }
