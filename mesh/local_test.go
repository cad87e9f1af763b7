package mesh

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// parcel is a message that can be checked.
type parcel struct {
	From, To, Number uint64
	Load             []uint64
}

// exchange has each worker send the parcels of its plan, in order, on channels
// chosen at random, and checks that all of them arrive once each and in order.
// plan[i][k] is the receiver of parcel k of worker i.
func exchange(t require, workers []*Peer, plan [][]int, channels int) {
	expected := make([]int, len(plan))
	for _, list := range plan {
		for _, to := range list {
			expected[to]++
		}
	}
	onWorkers(t, workers, func(p *Peer) {
		senders := make([][]*Sender[parcel], channels)
		receivers := make([]*Receiver[parcel], channels)
		for c := range channels {
			var err error
			if senders[c], receivers[c], err = p.Open[parcel](fmt.Sprint("parcels ", c)); err != nil {
				t.Errorf("open: %v", err)
				return
			}
		}
		come := 0
		next := map[[2]uint64]uint64{} // by sender and channel
		listed := make([]bool, channels)
		take := func() {
			p.Ready(func(c int) {
				if listed[c] {
					t.Errorf("channel %d is reported twice", c)
				}
				listed[c] = true
			})
			for c := range channels {
				if !listed[c] {
					continue
				}
				listed[c] = false
				for _, m := range receivers[c].Take(nil) {
					key := [2]uint64{m.From, uint64(c)}
					if m.To != uint64(p.Index()) || m.Number < next[key] || len(m.Load) != int(m.Number%7) {
						t.Errorf("worker %d got %+v on channel %d after number %d", p.Index(), m, c, next[key])
					}
					next[key] = m.Number + 1
					come++
				}
			}
		}
		for k, to := range plan[p.Index()] {
			c := (k*7 + p.Index()) % channels
			senders[c][to].Send(parcel{uint64(p.Index()), uint64(to), uint64(k), make([]uint64, k%7)})
			if k%5 == 0 {
				take()
			}
		}
		for come < expected[p.Index()] && p.Err() == nil {
			p.Park(0)
			take()
		}
		if come != expected[p.Index()] {
			t.Errorf("worker %d got %d parcels, expected %d", p.Index(), come, expected[p.Index()])
		}
	})
}

// require is what helpers need of a test, a benchmark or a property.
type require interface {
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

func drawPlan(t *rapid.T, workers int) [][]int {
	plan := make([][]int, workers)
	for i := range plan {
		plan[i] = rapid.SliceOfN(rapid.IntRange(0, workers-1), 0, 200).Draw(t, "receivers")
	}
	return plan
}

func TestExactlyOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threads := rapid.IntRange(1, 8).Draw(t, "threads")
		m, err := Start(t.Context(), Config{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		exchange(t, m.Workers(), drawPlan(t, threads), rapid.IntRange(1, 4).Draw(t, "channels"))
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// More workers than processors must work as well.
func TestOversubscribed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	m := start(t, Config{Threads: 8})
	rounds(t, m.Workers(), 2000)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestMismatchNamesBoth(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(p *Peer) error
		want []string
	}{
		{"name", func(p *Peer) error { _, _, err := p.Open[int]("ranks"); return err }, []string{`worker 0 opened "edges" of int`, `worker 1 opened "ranks" of int`}},
		{"type", func(p *Peer) error { _, _, err := p.Open[string]("edges"); return err }, []string{`"edges" of int`, `"edges" of string`, "channel 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := start(t, Config{Threads: 2})
			defer m.Close()
			if _, _, err := m.Workers()[0].Open[int]("edges"); err != nil {
				t.Fatal(err)
			}
			err := c.open(m.Workers()[1])
			if !errors.Is(err, ErrMismatch) || !errors.Is(m.Err(), ErrMismatch) {
				t.Fatalf("Open returned %v, and the mesh %v", err, m.Err())
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if _, _, err := m.Workers()[0].Open[int]("more"); !errors.Is(err, ErrMismatch) {
				t.Errorf("a failed mesh still opens channels: %v", err)
			}
		})
	}
}

// A message can come before its receiver opens the channel.
func TestMessageBeforeOpen(t *testing.T) {
	m := start(t, Config{Threads: 2})
	defer m.Close()
	a, b := m.Workers()[0], m.Workers()[1]
	to, _, err := a.Open[string]("early")
	if err != nil {
		t.Fatal(err)
	}
	to[1].Send("first")
	b.Ready(func(c int) { t.Errorf("channel %d is reported before it is open", c) })
	to[1].Send("second")
	_, from, err := b.Open[string]("early")
	if err != nil {
		t.Fatal(err)
	}
	if !b.Park(0) {
		t.Error("Park waits in spite of messages")
	}
	var ready []int
	b.Ready(func(c int) { ready = append(ready, c) })
	if !slices.Equal(ready, []int{from.ID()}) {
		t.Errorf("ready channels %v", ready)
	}
	if got := from.Take(nil); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("got %q", got)
	}
}

func TestPark(t *testing.T) {
	m := start(t, Config{Threads: 2})
	defer m.Close()
	p := m.Workers()[0]
	if p.Park(time.Millisecond) {
		t.Error("Park returned true with nothing to do")
	}
	if p.Park(-time.Second) {
		t.Error("Park returned true with nothing to do and no time left")
	}
	p.Wake()
	p.Wake()
	if !p.Park(0) {
		t.Error("Park missed an earlier Wake")
	}
	if p.Park(time.Millisecond) {
		t.Error("Park returned true again for one Wake")
	}
	var others sync.WaitGroup
	for range 200 {
		others.Go(p.Wake)
		if !p.Park(0) {
			t.Error("Park returned false without a limit")
		}
		others.Wait()
		p.Park(time.Nanosecond)
	}
	cause := errors.New("out of flour")
	others.Go(func() { m.Fail(cause) })
	p.Park(0)
	others.Wait()
	m.Fail(errors.New("a later failure"))
	if p.Err() != cause || !p.Park(0) {
		t.Errorf("the mesh failed with %v, expected %v", p.Err(), cause)
	}
}

func TestReceiverClose(t *testing.T) {
	m := start(t, Config{Threads: 2})
	defer m.Close()
	a, b := m.Workers()[0], m.Workers()[1]
	to, _, err := a.Open[int]("n")
	if err != nil {
		t.Fatal(err)
	}
	own, from, err := b.Open[int]("n")
	if err != nil {
		t.Fatal(err)
	}
	to[1].Send(1)
	own[1].Send(2)
	from.Close()
	to[1].Send(3)
	own[1].Send(4)
	if got := from.Take(nil); len(got) > 0 {
		t.Errorf("got %v from a closed receiver", got)
	}
}

func TestSendingDoesNotAllocate(t *testing.T) {
	m := start(t, Config{Threads: 2})
	defer m.Close()
	a, b := m.Workers()[0], m.Workers()[1]
	to, ownFrom, err := a.Open[[]uint64]("batches")
	if err != nil {
		t.Fatal(err)
	}
	_, from, err := b.Open[[]uint64]("batches")
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]uint64, 1024)
	var got [][]uint64
	step := func() {
		to[0].Send(batch)
		to[1].Send(batch)
		a.Ready(func(int) {})
		b.Ready(func(int) {})
		got = ownFrom.Take(from.Take(got[:0]))
	}
	step()
	step()
	if n := testing.AllocsPerRun(100, step); n > 0 || len(got) != 2 {
		t.Errorf("a round of %d messages allocates %g times", len(got), n)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Threads: -1}, "threads: -1"},
		{Config{Processes: -2}, "processes: -2"},
		{Config{Process: 1}, "there is no process 1 among 1"},
		{Config{Timeout: -1}, "must not be less than 0"},
	} {
		if _, err := Start(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Start(%+v): %v, expected %q", c.cfg, err, c.want)
		}
	}
}

// contains says that err exists and mentions all of what is expected.
func contains(t require, what string, err error, want ...string) {
	if err == nil {
		t.Errorf("%s: no error, expected %q", what, want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", what, err, w)
		}
	}
}
