package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir/mesh"
)

// role is the variable that makes this test a process that joins, and says what it does.
const role = "WEIR_TEST_ROLE"

func TestMain(m *testing.M) {
	if what := os.Getenv(role); what != "" {
		if err := joined(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// joined is the program of the other processes.
func joined(what string) error {
	if what == "fail early" {
		return errors.New("no such graph")
	}
	if what == "end early" {
		return nil
	}
	ctx, cfg, err := Join(context.Background(), os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	if what == "deaf" {
		signal.Ignore(os.Interrupt)
		time.Sleep(time.Hour)
	}
	return pingPong(ctx, cfg, what)
}

// pingPong is a run: every worker tells its number to all, and hears theirs.
func pingPong(ctx context.Context, cfg mesh.Config, what string) error {
	cfg.Wait = 20 * time.Second
	m, err := mesh.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { m.Fail(context.Cause(ctx)) })()
	w := m.Workers()[0]
	to, from, err := w.Open[int]("numbers")
	if err != nil {
		return errors.Join(err, m.Close())
	}
	switch {
	case what == "exit" && w.Index() == 1:
		os.Exit(3)
	case what == "killed" && w.Index() == 1:
		self, err := os.FindProcess(os.Getpid())
		return errors.Join(err, self.Kill())
	case what == "fail" && w.Index() == 1:
		m.Fail(errors.New("it is broken"))
	}
	for _, s := range to {
		s.Send(w.Index())
	}
	sum, n := 0, 0
	for n < w.Peers() && w.Err() == nil {
		w.Park(0)
		w.Ready(func(int) {})
		for _, x := range from.Take(nil) {
			sum += x
			n++
		}
	}
	if err := errors.Join(w.Err(), m.Close()); err != nil {
		return err
	}
	if want := w.Peers() * (w.Peers() - 1) / 2; sum != want {
		return fmt.Errorf("numbers add up to %d, expected %d", sum, want)
	}
	return nil
}

func command(what string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"="+what)
		return cmd
	}
}

func TestRun(t *testing.T) {
	o, err := Start(t.Context(), 3, command("work"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range o.all {
		if all := strings.Join(append(c.cmd.Args, c.cmd.Env...), " "); strings.Contains(all, string(o.Config().Secret)) {
			t.Errorf("arguments or environment of process %d hold the secret", c.number)
		}
	}
	if err := o.End(pingPong(o.Context(), o.Config(), "work")); err != nil {
		t.Error(err)
	}
}

// Of each way to fail the first process says which process it was and why.
func TestFailures(t *testing.T) {
	for what, want := range map[string]string{
		"fail early": "process 1: exit status 1: no such graph",
		"end early":  "process 1: it ended before it joined",
		"exit":       "process 1: exit status 3",
		"killed":     "process 1: signal: killed",
		"fail":       "process 1: it is broken",
	} {
		o, err := Start(t.Context(), 2, command(what))
		if err == nil {
			err = o.End(pingPong(o.Context(), o.Config(), what))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", what, err, want)
		}
	}
	if _, err := Start(t.Context(), 2, func() *exec.Cmd { return exec.Command("no-such-program") }); err == nil {
		t.Error("a program that is not there was started")
	}
}

// A run that is cancelled leaves no process behind, not even one that hears nothing.
func TestCancel(t *testing.T) {
	for _, what := range []string{"work", "deaf"} {
		if what == "deaf" && testing.Short() {
			continue // it takes the grace
		}
		ctx, cancel := context.WithCancel(t.Context())
		o, err := Start(ctx, 2, command(what))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := o.End(pingPong(o.Context(), o.Config(), what)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", what, err, context.Canceled)
		}
		if state := o.all[0].cmd.ProcessState; state == nil || state.Success() {
			t.Errorf("%s: process 1 ended as %v, expected it to fail", what, state)
		}
	}
}

func TestJoinAlone(t *testing.T) {
	in, first := io.Pipe()
	first.Close()
	if _, _, err := Join(t.Context(), in, io.Discard); !errors.Is(err, ErrAlone) {
		t.Errorf("error %v, want %v", err, ErrAlone)
	}
	if _, _, err := Join(t.Context(), strings.NewReader("no ticket"), io.Discard); err == nil {
		t.Error("joined without a ticket")
	}
	in, first = io.Pipe()
	go first.Write([]byte(`{"process": 1, "addresses": ["a:1", "b:2"], "secret": "eA=="}`))
	var said bytes.Buffer
	ctx, cfg, err := Join(t.Context(), in, &said)
	if err != nil {
		t.Fatal(err)
	}
	defer cfg.Listener.Close()
	if cfg.Process != 1 || cfg.Processes != 2 || string(cfg.Secret) != "x" || strings.TrimSpace(said.String()) != cfg.Listener.Addr().String() {
		t.Errorf("joined as %+v, said %q", cfg, said.String())
	}
	first.Close()
	<-ctx.Done()
	if cause := context.Cause(ctx); cause != ErrAlone {
		t.Errorf("the run ended because of %v, want %v", cause, ErrAlone)
	}
}
