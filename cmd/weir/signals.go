package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameStop is how soon after the first interrupt another means the same: timeout(1)
// and some shells send it to the process and then to its group.
const sameStop = 300 * time.Millisecond

// watchSignals returns a context that the first interrupt or termination
// cancels, so that the command can remove what it has not finished. The second
// one, later than [sameStop], ends the process at once. A broken pipe becomes an error of the write.
func (a *app) watchSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	pipes := make(chan os.Signal, 1) // nobody reads it: to be notified is not to be killed
	signal.Notify(pipes, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
			return
		}
		for first := time.Now(); ; {
			select {
			case <-signals:
				if time.Since(first) < sameStop {
					continue
				}
				fmt.Fprintln(a.stderr, "weir: stopped at once; temporary files may be left")
				os.Exit(exitInterrupted)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(done)
		cancel()
	}
}
