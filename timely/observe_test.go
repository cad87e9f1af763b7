package timely

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLog checks that what is logged of a dataflow adds up.
func TestLog(t *testing.T) {
	const records, epochs = 3000, 5
	for _, threads := range []int{1, 3} {
		var all gather[LogEvent]
		err := Run(Threads(threads), func(w *Worker) error {
			w.Log(all.add)
			var in *Input[uint64]
			var probe Probe
			w.Dataflow("logged", func(s *Scope) {
				in = NewInput[uint64](s)
				in.Stream().Exchange(HashUint64).Probe(&probe)
			})
			for epoch := range uint64(epochs) {
				for i := range uint64(records) {
					in.Send(i)
				}
				in.AdvanceTo(epoch + 1)
				if err := w.StepUntil(probe.Passed(Epoch(epoch))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		count := map[LogKind]int{}
		sum := map[LogKind]int64{}
		for _, e := range all.list {
			count[e.Kind]++
			sum[e.Kind] += e.Count
			if e.Worker < 0 || int(e.Worker) >= threads || e.Dataflow != 0 || strings.HasPrefix(e.Kind.String(), "LogKind") {
				t.Errorf("event %+v", e)
			}
		}
		// Each record goes to the exchange, and from there to the probe.
		if n := int64(2 * records * epochs * threads); sum[LogSend] != n || sum[LogReceive] != n {
			t.Errorf("%d threads: %d records sent and %d received, expected %d", threads, sum[LogSend], sum[LogReceive], n)
		}
		if count[LogSend] != count[LogReceive] || count[LogStart] != count[LogStop] || count[LogPark] != count[LogUnpark] {
			t.Errorf("%d threads: %v", threads, count)
		}
		if count[LogOperator] != 3*threads || count[LogChannel] != 2*threads || count[LogDone] != threads {
			t.Errorf("%d threads: %v", threads, count)
		}
		if sum[LogHear] != sum[LogTell]*int64(threads-1) {
			t.Errorf("%d threads: %d changes told, %d heard", threads, sum[LogTell], sum[LogHear])
		}
	}
}

// TestLogStream counts with a dataflow how often the operators of another one run.
func TestLogStream(t *testing.T) {
	var got Results[uint64]
	var direct gather[LogEvent]
	err := Run(Threads(2), func(w *Worker) error {
		w.Dataflow("counts", func(s *Scope) {
			LogStream(s, time.Millisecond).
				Filter(func(e LogEvent) bool { return e.Kind == LogStart }).
				Exchange(func(LogEvent) uint64 { return 0 }).
				Count().Collect(&got)
		})
		w.Log(func(e LogEvent) {
			if e.Kind == LogStart {
				direct.add(e)
			}
		})
		var in *Input[uint64]
		w.Dataflow("work", func(s *Scope) {
			in = NewInput[uint64](s)
			in.Stream().Exchange(HashUint64).Map(func(x uint64) uint64 { return x + 1 })
		})
		for i := range uint64(100) {
			in.Send(i)
			in.AdvanceTo(i)
			if _, err := w.Step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := uint64(0)
	for _, n := range got.All() {
		total += n
	}
	if total == 0 || total != uint64(len(direct.list)) {
		t.Errorf("the dataflow counted %d runs, expected %d", total, len(direct.list))
	}
}

func TestExplain(t *testing.T) {
	err := Run(Threads(1), func(w *Worker) error {
		var in, other *Input[int]
		var probe Probe
		flow := w.Dataflow("stuck", func(s *Scope) {
			in, other = NewInput[int](s), NewInput[int](s)
			in.Stream().Unary("hoard", Pipeline[int](), func(in *Reader[int], out *Writer[int], n *Notificator) {
				for at, _, ok := in.Next(); ok; at, _, ok = in.Next() {
					n.NotifyAt(at)
				}
				for _, ok := n.Next(); ok; _, ok = n.Next() {
				}
			}).Probe(&probe)
		})
		check := func(text string, want ...string) {
			for _, x := range want {
				if !strings.Contains(text, x) {
					t.Errorf("%q does not say %q", text, x)
				}
			}
		}
		steps := func() {
			for range 4 {
				w.Step()
			}
		}
		in.AdvanceTo(2)
		in.Send(1)
		steps()
		check(flow.Explain(), `dataflow "stuck", seen from worker 0 of 1`,
			`1 capability at (2) held by operator 0, "input", for its output 0 (1 here)`,
			`1 capability at (0) held by operator 1, "input"`,
			`1 capability at (2) held by operator 2, "hoard"`)
		in.AdvanceTo(3)
		steps()
		check(probe.Explain(), "frontier [(3)]", `1 capability at (3) held by operator 0`)
		if text := probe.Explain(); strings.Contains(text, "operator 1") || strings.Contains(text, "hoard") {
			t.Errorf("the other input does not hold the probe up: %s", text)
		}
		in.Close()
		other.Close()
		err := w.StepUntil(flow.Done)
		check(flow.Explain(), "is done")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFlags(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	hosts, secret, empty := write("hosts", "a:1 # first\n\nb:2\n"), write("secret", "s3cret\n"), write("empty", " \n")
	parse := func(args ...string) (Config, error) {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		config := Flags(fs)
		if err := fs.Parse(args); err != nil {
			return Config{}, err
		}
		return config()
	}
	for _, c := range []struct {
		args []string
		want string // of an error
		is   func(c Config) bool
	}{
		{nil, "", func(c Config) bool { return c.Threads == 1 && c.Processes == 1 && c.Wait == 30*time.Second }},
		{[]string{"-w", "3", "-n", "2", "-p", "1"}, "", func(c Config) bool {
			return c.Threads == 3 && c.Processes == 2 && c.Process == 1 && slices.Equal(c.Addresses, []string{"localhost:2101", "localhost:2102"})
		}},
		{[]string{"-h", hosts, "-secret", secret}, "", func(c Config) bool {
			return c.Processes == 2 && slices.Equal(c.Addresses, []string{"a:1", "b:2"}) && string(c.Secret) == "s3cret"
		}},
		{[]string{"-h", "a:1,b:2,c:3", "-n", "2"}, "", func(c Config) bool { return slices.Equal(c.Addresses, []string{"a:1", "b:2"}) }},
		{[]string{"-w", "0"}, "-w 0: expected at least one worker", nil},
		{[]string{"-n", "-1"}, "-n -1: expected at least one process", nil},
		{[]string{"-n", "2", "-p", "2"}, "-p 2: expected 0 to 1, as there are 2 processes", nil},
		{[]string{"-h", hosts, "-n", "3"}, "has only 2 hosts", nil},
		{[]string{"-h", dir + "/none"}, "none", nil},
		{[]string{"-h", "a:b"}, "a:b", nil},
		{[]string{"-secret", empty}, "is empty", nil},
		{[]string{"-secret", dir + "/none"}, "none", nil},
	} {
		got, err := parse(c.args...)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: got %v, expected %q", c.args, err, c.want)
		case c.want == "" && (err != nil || !c.is(got)):
			t.Errorf("%q: got %+v, %v", c.args, got, err)
		}
	}
	if _, err := parse("-secret", dir+"/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
