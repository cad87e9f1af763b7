// Package progress carries "how far along is this work" from an engine to
// whoever shows it, through the context, so that engines know nothing of
// terminals and a program without a display pays a nil check.
package progress

import (
	"context"
	"sync/atomic"
)

// Unit says what a stage counts, for the display of its rate.
type Unit int

const (
	Items Unit = iota // anything counted
	Bytes             // shown with binary prefixes
	Edges             // shown as edges
)

// A Display shows stages. Begin may be called from several goroutines; the
// function it returns is called once when the stage ends.
type Display interface {
	Begin(s *Stage) (end func())
}

// Stage is one piece of long work. Its counter is safe for concurrent use.
// A nil Stage is legal and counts nothing.
type Stage struct {
	Name  string
	Total int64 // 0 where it is not known
	Unit  Unit

	done atomic.Int64
	end  func()
}

type key struct{}

// With returns a context whose stages are shown by d.
func With(ctx context.Context, d Display) context.Context {
	return context.WithValue(ctx, key{}, d)
}

// Start begins a stage of the given total (0 if unknown) on the display that
// ctx carries; it returns nil where ctx carries none. Call Done when it ends.
func Start(ctx context.Context, name string, total int64, unit Unit) *Stage {
	d, _ := ctx.Value(key{}).(Display)
	if d == nil {
		return nil
	}
	s := &Stage{Name: name, Total: total, Unit: unit}
	s.end = d.Begin(s)
	return s
}

// Add counts n more units as done.
func (s *Stage) Add(n int64) {
	if s != nil {
		s.done.Add(n)
	}
}

// Current is the number of units done so far.
func (s *Stage) Current() int64 { return s.done.Load() }

// Done ends the stage.
func (s *Stage) Done() {
	if s != nil && s.end != nil {
		s.end()
	}
}
