package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"weir/internal/progress"
)

const (
	// barDelay keeps stages that end at once from flickering.
	barDelay   = 300 * time.Millisecond
	barRefresh = 100 * time.Millisecond
)

// display shows the stages of a command as bars, which vanish as they end.
type display struct {
	out io.Writer

	mu     sync.Mutex
	bars   *mpb.Progress // nil while no bar is shown
	shown  int
	closed bool
}

// display is nil where nobody would see it.
func (a *app) display() *display {
	file, ok := a.stderr.(*os.File)
	if a.quiet || !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &display{out: file}
}

// Begin implements [progress.Display].
func (d *display) Begin(s *progress.Stage) (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		d.follow(s, stop)
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
	})
}

// follow shows s until stop is closed.
func (d *display) follow(s *progress.Stage, stop <-chan struct{}) {
	begin := time.Now()
	select {
	case <-stop:
		return
	case <-time.After(barDelay):
	}
	bar := d.show(s, begin)
	if bar == nil {
		<-stop
		return
	}
	defer d.hide(bar)
	tick := time.NewTicker(barRefresh)
	defer tick.Stop()
	for {
		bar.SetCurrent(s.Current())
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// show adds a bar for s, or a spinner where its total is not known.
func (d *display) show(s *progress.Stage, begin time.Time) *mpb.Bar {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if d.bars == nil {
		d.bars = mpb.New(mpb.WithOutput(d.out), mpb.WithWidth(34), mpb.WithRefreshRate(barRefresh), mpb.WithAutoRefresh())
	}
	d.shown++
	name := mpb.PrependDecorators(decor.Name(s.Name, decor.WC{W: 14, C: decor.DindentRight}))
	rate := decor.Any(func(st decor.Statistics) string {
		return "  " + formatRate(float64(s.Current())/time.Since(begin).Seconds(), s.Unit)
	})
	if s.Total <= 0 {
		return d.bars.New(0, mpb.SpinnerStyle().PositionLeft(), name, mpb.AppendDecorators(rate), mpb.BarRemoveOnComplete())
	}
	left := decor.Any(func(st decor.Statistics) string { return "  " + formatLeft(time.Since(begin), s.Current(), s.Total) })
	return d.bars.New(s.Total, mpb.BarStyle().Lbound("").Filler("█").Tip("█").Padding("░").Rbound(""), name,
		mpb.AppendDecorators(decor.NewPercentage("%d", decor.WC{W: 5}), rate, left), mpb.BarRemoveOnComplete())
}

// hide removes a bar, and with the last of them all that was drawn.
func (d *display) hide(bar *mpb.Bar) {
	d.mu.Lock()
	defer d.mu.Unlock()
	bar.Abort(true)
	if d.shown--; d.shown == 0 {
		d.bars.Wait()
		d.bars = nil
	}
}

// close keeps bars from appearing after a command has ended.
func (d *display) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// formatRate prints units a second.
func formatRate(perSecond float64, unit progress.Unit) string {
	switch unit {
	case progress.Bytes:
		return fmt.Sprintf("%.0f MB/s", perSecond/1e6)
	case progress.Edges:
		return formatCount(perSecond) + " edges/s"
	}
	return formatCount(perSecond) + "/s"
}

// formatCount prints a number with three digits and a decimal prefix.
func formatCount(x float64) string {
	for _, p := range []struct {
		size float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if x >= p.size {
			return fmt.Sprintf("%.3g%s", x/p.size, p.name)
		}
	}
	return fmt.Sprintf("%.3g", x)
}

// formatLeft estimates the time left from the time spent.
func formatLeft(spent time.Duration, done, total int64) string {
	if done <= 0 || done >= total {
		return ""
	}
	left := time.Duration(float64(spent) / float64(done) * float64(total-done))
	return left.Round(time.Second).String() + " left"
}
