package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// steps shows on a terminal which run is going on and how many are left. Nil
// steps are legal and show nothing.
type steps struct {
	out     io.Writer
	total   int64
	done    int64
	begin   time.Time
	current atomic.Value // of string

	display *mpb.Progress // nil while hidden
	bar     *mpb.Bar
}

// newSteps is nil where w is not a terminal.
func newSteps(w io.Writer, total int) *steps {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	s := &steps{out: f, total: int64(total), begin: time.Now()}
	s.current.Store("")
	return s
}

// show draws the bar until it is hidden.
func (s *steps) show() {
	if s == nil {
		return
	}
	s.display = mpb.New(mpb.WithOutput(s.out), mpb.WithWidth(24), mpb.WithRefreshRate(200*time.Millisecond), mpb.WithAutoRefresh())
	// Its total is one too many, or it would be complete, and gone, before the end.
	s.bar = s.display.New(s.total+1, mpb.BarStyle().Lbound("").Filler("█").Tip("█").Padding("░").Rbound(""),
		mpb.AppendDecorators(decor.Any(func(st decor.Statistics) string {
			return fmt.Sprintf(" %d of %d  %v  %s", st.Current, s.total, time.Since(s.begin).Round(time.Second), s.current.Load())
		})))
	s.bar.SetCurrent(s.done)
}

// hide removes the bar, so that something else can be written.
func (s *steps) hide() {
	if s == nil || s.display == nil {
		return
	}
	s.bar.Abort(true)
	s.display.Wait()
	s.display = nil
}

// name says what is going on.
func (s *steps) name(text string) {
	if s != nil {
		s.current.Store(text)
	}
}

// advance says that a run is over, or will not be made.
func (s *steps) advance() {
	if s != nil {
		s.done++
		s.bar.SetCurrent(s.done)
	}
}
