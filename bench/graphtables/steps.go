package main

import (
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
	display *mpb.Progress
	bar     *mpb.Bar
	current atomic.Value // of string
}

// newSteps is nil where w is not a terminal.
func newSteps(w io.Writer, total int) *steps {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	s := &steps{display: mpb.New(mpb.WithOutput(f), mpb.WithWidth(24), mpb.WithRefreshRate(200*time.Millisecond), mpb.WithAutoRefresh())}
	s.current.Store("")
	s.bar = s.display.New(int64(total), mpb.BarStyle().Lbound("").Filler("█").Tip("█").Padding("░").Rbound(""),
		mpb.AppendDecorators(
			decor.CountersNoUnit(" run %d of %d"), decor.Elapsed(decor.ET_STYLE_MMSS, decor.WCSyncSpace),
			decor.Any(func(decor.Statistics) string { return "  " + s.current.Load().(string) }),
		), mpb.BarRemoveOnComplete())
	return s
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
		s.bar.Increment()
	}
}

// out is where text may be written without disturbing the bar, instead of w.
func (s *steps) out(w io.Writer) io.Writer {
	if s != nil && w == io.Writer(os.Stdout) && term.IsTerminal(int(os.Stdout.Fd())) {
		return s.display
	}
	return w
}

// close removes the bar.
func (s *steps) close() {
	if s != nil {
		s.bar.Abort(true)
		s.display.Wait()
	}
}
