// Package launch makes one command a run of several processes on this machine: it
// starts the program again for each of the others, tells them where all listen and
// a secret that nobody else knows, and sees to it that none outlives the first.
//
// What the processes have to tell one another before they are connected goes through the pipes
// at their standard input and output, so that neither a list of arguments nor an
// environment shows the secret:
//
//	others, err := launch.Start(ctx, 4, func() *exec.Cmd { return exec.Command(os.Args[0], "--joined") })
//	err = others.End(work(others.Context(), others.Config()))
//
// and in the others:
//
//	ctx, config, err := launch.Join(ctx, os.Stdin, os.Stdout)
//	err = work(ctx, config)
//
// A process that is joined prints nothing else on its standard output.
package launch

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weir/mesh"
)

const (
	// loopback is where processes of one machine listen, at ports that the system chooses.
	loopback = "127.0.0.1:0"
	// patience is how long the others may take to end: after a run that went well, and
	// after one that did not.
	patience, grace = 30 * time.Second, 3 * time.Second
	// lastWords is how much of a process's standard error is kept to be told.
	lastWords = 2 << 10
)

// ticket is what a process is told before it joins.
type ticket struct {
	Process   int      `json:"process"`
	Addresses []string `json:"addresses"`
	Secret    []byte   `json:"secret"`
}

// Others are the processes that this one has started.
type Others struct {
	outer   context.Context
	ctx     context.Context
	cancel  context.CancelCauseFunc
	config  mesh.Config
	all     []*other
	running sync.WaitGroup
}

// other is one of them.
type other struct {
	number int
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr tail
	heard  chan string // where it listens; closed if it does not say
	err    error       // how it failed; valid once it is no longer running
	killed atomic.Bool // by this process
}

// Start starts processes 1 to processes-1, as command makes them, and returns when all have been
// told of one another; they connect when the run begins. Standard input, output and error of
// the commands are Start's to set. The caller must call [Others.End].
func Start(ctx context.Context, processes int, command func() *exec.Cmd) (*Others, error) {
	o := &Others{outer: ctx}
	o.ctx, o.cancel = context.WithCancelCause(ctx)
	if err := o.start(processes, command); err != nil {
		if o.config.Listener != nil {
			o.config.Listener.Close()
		}
		return nil, o.End(fmt.Errorf("start processes: %w", err))
	}
	return o, nil
}

// Context is that of the run. It is done when a process fails.
func (o *Others) Context() context.Context { return o.ctx }

// Config says who the processes are; this one is number 0.
func (o *Others) Config() mesh.Config { return o.config }

func (o *Others) start(processes int, command func() *exec.Cmd) error {
	l, err := new(net.ListenConfig).Listen(o.ctx, "tcp", loopback)
	if err != nil {
		return err
	}
	t := ticket{Addresses: make([]string, processes), Secret: make([]byte, 32)}
	rand.Read(t.Secret)
	t.Addresses[0] = l.Addr().String()
	o.config = mesh.Config{Processes: processes, Addresses: t.Addresses, Secret: t.Secret, Listener: l}
	for i := 1; i < processes; i++ {
		if err := o.launch(i, command()); err != nil {
			return fmt.Errorf("process %d: %w", i, err)
		}
	}
	for _, c := range o.all {
		var ok bool
		select {
		case t.Addresses[c.number], ok = <-c.heard:
		case <-o.ctx.Done():
		}
		if !ok {
			<-o.ctx.Done() // a process that says nothing has failed
			return context.Cause(o.ctx)
		}
	}
	for _, c := range o.all {
		t.Process = c.number
		if err := json.NewEncoder(c.stdin).Encode(t); err != nil {
			return fmt.Errorf("process %d: %w", c.number, err)
		}
	}
	return nil
}

// launch starts a process.
func (o *Others) launch(number int, cmd *exec.Cmd) error {
	c := &other{number: number, cmd: cmd, heard: make(chan string, 1)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	cmd.Stderr = &c.stderr
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return err
	}
	o.all = append(o.all, c)
	o.running.Go(func() {
		if err := c.watch(stdout); err != nil {
			c.err = fmt.Errorf("process %d: %w", number, err)
			if !c.killed.Load() {
				o.cancel(c.err)
			}
		}
	})
	return nil
}

// watch returns when the process has ended, and how it failed.
func (c *other) watch(stdout io.Reader) error {
	defer close(c.heard)
	lines := bufio.NewReader(stdout)
	address, problem := lines.ReadString('\n')
	if problem == nil {
		c.heard <- strings.TrimSpace(address)
		_, problem = io.Copy(io.Discard, lines)
	} else if problem == io.EOF {
		problem = errors.New("it ended before it joined")
	}
	err := cmp.Or(c.cmd.Wait(), problem)
	if said := c.stderr.String(); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// End waits for the processes to end after a run that ended with err, and returns why it failed, if
// it did: err, or how a process failed where that says more. If the run has failed,
// processes that do not end are killed.
func (o *Others) End(err error) error {
	defer o.cancel(nil)
	if err != nil || !o.ended(patience) {
		for _, c := range o.all {
			c.stdin.Close() // which ends it
		}
		if !o.ended(grace) {
			for _, c := range o.all {
				c.killed.Store(true)
				c.cmd.Process.Kill()
			}
		}
	}
	o.running.Wait()
	for _, c := range o.all {
		c.stdin.Close()
	}
	if o.outer.Err() != nil {
		return cmp.Or(err, o.outer.Err())
	}
	lost, ok := errors.AsType[*mesh.PeerLostError](err)
	switch cause := context.Cause(o.ctx); {
	case ok && lost.Process > 0 && lost.Process <= len(o.all) && o.all[lost.Process-1].err != nil:
		return fmt.Errorf("%w; %w", err, o.all[lost.Process-1].err)
	case err == nil, errors.Is(err, context.Canceled) && cause != nil:
		return cause
	}
	return err
}

// ended waits until all processes have ended, but not for long, and says whether they have.
func (o *Others) ended(limit time.Duration) bool {
	done := make(chan struct{})
	go func() {
		o.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// tail is the last that was written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(len(t.text)-lastWords, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
