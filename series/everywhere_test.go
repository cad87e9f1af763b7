package series

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
)

// A fixed workload is run, and at every k-th operation of the disk it is looked what would be there if the program were
// killed now, or power lost. What was confirmed must be there once, what was deleted must not, and nothing else than what
// was written; the store that is opened must go on, close, and verify.

var (
	everywhereEvery  = flag.Int("everywhere.every", 4, "look at every nth operation")
	everywhereSeeds  = flag.Int("everywhere.seeds", 2, "losses of power an operation")
	everywhereVerify = flag.Bool("everywhere.verify", false, "also verify before the store is opened, after a loss of power")
	everywhereFrom   = flag.Int("everywhere.from", 0, "only operations from this one on")
	everywhereTo     = flag.Int("everywhere.to", 1<<30, "and up to this one")
	everywherePad    = flag.Int("everywhere.pad", 0, "random bytes that texts have")
	everywhereMode   = flag.String("everywhere.mode", "", "only this mode")
)

type sysPoint struct {
	series string
	stage  int  // 0 written, 1 confirmed, 2 deletion was asked for, 3 deletion was confirmed
	synced bool // the stage outlives power
}

type sysRun struct {
	mu       sync.Mutex
	t        *testing.T
	d        *faulty.Disk
	o        Options
	s        *Store
	w        *Writer
	points   []sysPoint // by value
	now      int64
	tolerant bool // errors are expected
}

func (r *sysRun) no(err error) bool {
	if err != nil && !r.tolerant {
		r.t.Helper()
		r.t.Fatal(err)
	}
	return err == nil
}

func (r *sysRun) write(n int) {
	ctx := context.Background()
	begin := len(r.points)
	for range n {
		r.mu.Lock()
		r.now++
		r.mu.Unlock()
		name := []string{"a", "b", "c", "!e", fmt.Sprintf("n%d", r.now/97)}[int(r.now)%5] + " host=x"
		at := r.now * 10
		switch r.now % 11 {
		case 3:
			at -= 35
		case 7:
			at -= at / 2
		}
		id, err := r.w.Series(name)
		if !r.no(err) {
			continue
		}
		r.mu.Lock()
		v := len(r.points)
		r.points = append(r.points, sysPoint{series: name})
		r.mu.Unlock()
		if names.IsEvent(name) {
			err = r.w.AddEvent(id, at, r.text(v))
		} else {
			err = r.w.Add(id, at, float64(v)+math.Sqrt(float64(v))/1e6)
		}
		r.no(err)
	}
	err := r.w.Commit(ctx)
	if !r.no(err) {
		return
	}
	r.mark(begin, 1, r.o.Sync == SyncAlways && !r.o.NoLog)
}

func (r *sysRun) text(v int) []byte {
	b := []byte(strconv.Itoa(v))
	if *everywherePad > 0 {
		rnd := rand.New(rand.NewPCG(uint64(v), 1))
		b = append(b, ' ')
		for range *everywherePad {
			b = append(b, byte(33+rnd.IntN(90)))
		}
	}
	return b
}

func (r *sysRun) mark(begin, stage int, synced bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := begin; i < len(r.points); i++ {
		if r.points[i].stage < stage {
			r.points[i].stage, r.points[i].synced = stage, synced
		}
	}
}

// known is what is known of all points now.
func (r *sysRun) known() ([]sysPoint, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sysPoint(nil), r.points...), r.now
}

// certain is what was certain all the time between before and after, since others go on while somebody looks.
func certain(before, after []sysPoint) []sysPoint {
	points := append([]sysPoint(nil), after...)
	for i := range points {
		switch {
		case i >= len(before) || before[i].stage == 0:
			points[i].stage, points[i].synced = 0, false
		case before[i].stage == points[i].stage:
			points[i].synced = before[i].synced
		default: // its deletion was begun or ended
			points[i].stage, points[i].synced = 2, false
		}
	}
	return points
}

func (r *sysRun) allSynced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.points {
		if r.points[i].stage == 1 || r.points[i].stage == 3 {
			r.points[i].synced = true
		}
	}
}

func (r *sysRun) remove(name string, do func() error) {
	set := func(stage int, synced bool) {
		r.mu.Lock()
		for i := range r.points {
			if p := &r.points[i]; p.series == name && p.stage > 0 && p.stage < stage {
				p.stage, p.synced = stage, synced
			}
		}
		r.mu.Unlock()
	}
	set(2, false)
	if r.no(do()) {
		set(3, r.o.Sync == SyncAlways && !r.o.NoLog)
	}
}

func (r *sysRun) run() {
	ctx := context.Background()
	step := func(err error) { r.no(err) }
	r.write(150)
	r.write(700)
	if err := r.s.Sync(ctx); r.no(err) {
		r.allSynced()
	}
	r.write(300)
	step(r.s.keepMemory())
	step(r.s.Checkpoint())
	r.write(300)
	r.remove("b host=x", func() error {
		_, err := r.s.Delete(ctx, []names.Match{names.Metric("b")}, math.MinInt64, math.MaxInt64)
		return err
	})
	r.write(300)
	step(r.s.keepLog())
	r.remove("a host=x", func() error {
		_, err := r.s.DropSeries(ctx, []names.Match{names.Metric("a")})
		return err
	})
	r.write(200)
	step(r.s.Compact(ctx, nil))
	r.write(200)
	for i := range r.s.shards {
		_, err := r.s.closeCold(&r.s.shards[i], 0, 1<<30)
		step(err)
	}
	r.write(250)
	step(r.s.Compact(ctx, nil))
	step(r.s.Checkpoint())
	r.write(100)
	if err := r.s.Sync(ctx); r.no(err) {
		r.allSynced()
	}
	r.write(100)
}

func sysOptions(mode string) Options {
	o := Options{Reserve: -1, VolumeSize: 1 << 20, LogSize: 12 << 10, segment: 4 << 10, Memory: 20 << 10, OnProblem: func(error) {}}
	switch mode {
	case "always":
		o.Sync = SyncAlways
	case "interval":
		o.Sync = SyncInterval
	case "never":
		o.Sync = SyncNever
	case "nolog":
		o.NoLog = true
	}
	return o
}

func newSysRun(t *testing.T, mode string) *sysRun {
	r := &sysRun{t: t, d: faulty.New(), o: sysOptions(mode)}
	r.o.FS = r.d
	return r
}

// look opens what is left, and compares. It returns what is wrong.
func look(t *testing.T, d *faulty.Disk, o Options, points []sysPoint, now int64, power, noDamage bool) (wrong []string) {
	ctx := context.Background()
	bad := func(format string, args ...any) {
		if len(wrong) < 5 {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	o.FS = d
	v, err := Verify(ctx, "db", VerifyOptions{FS: d})
	if err != nil && !errors.Is(err, ErrNotStore) && !errors.Is(err, os.ErrNotExist) {
		bad("verify: %v", err)
	}
	if err == nil && noDamage && !v.OK() && (*everywhereVerify || !power) {
		bad("verify: %+v", v)
	}
	for round := range 2 {
		s, err := Open(ctx, "db", o)
		if err != nil {
			bad("open %d: %v", round, err)
			return wrong
		}
		if rec := s.Recovery(); noDamage && len(rec.Damage) > 0 {
			bad("damage %d: %v", round, rec.Damage)
		} else if round > 0 && !rec.Clean {
			bad("not clean: %+v", rec)
		}
		there := map[int]int{}
		for id := range s.names.Next() {
			name := s.names.Name(id)
			if name == "" {
				continue
			}
			check := func(v int) {
				there[v]++
				if v < 0 || v >= len(points) {
					if v != 1<<30 {
						bad("round %d: %q has %d, which was never written", round, name, v)
					}
				} else if points[v].series != name {
					bad("round %d: %q has %d of %q", round, name, v, points[v].series)
				}
			}
			if names.IsEvent(name) {
				e, err := s.Events(ctx, id, math.MinInt64, math.MaxInt64, false)
				if err != nil {
					bad("%v", err)
					continue
				}
				times, texts := make([]int64, 64), make([]string, 64)
				for n := 64; n == 64; {
					if n, err = e.Next(times, texts); err != nil {
						bad("read %q: %v", name, err)
						break
					}
					for _, x := range texts[:n] {
						v, _ := strconv.Atoi(strings.Fields(x)[0])
						check(v)
					}
				}
				e.Close()
				continue
			}
			n, err := numbersOf(ctx, s, id)
			if err != nil {
				bad("read %q: %v", name, err)
			}
			for _, x := range n {
				check(int(x))
			}
			if a, err := s.Aggregate(ctx, id, math.MinInt64, math.MaxInt64); err != nil || a.Count != uint64(len(n)) {
				bad("round %d: %q counts %d, has %d, %v", round, name, a.Count, len(n), err)
			}
		}
		for v, n := range there {
			if n > 1 {
				bad("round %d: %d of %q is there %d times", round, v, func() string {
					if v < len(points) {
						return points[v].series
					}
					return "new"
				}(), n)
			}
		}
		for v, p := range points {
			if power && !p.synced {
				continue
			}
			if p.stage == 1 && there[v] == 0 {
				bad("round %d: %d of %q was confirmed, and is not there", round, v, p.series)
			}
			if p.stage == 3 && there[v] > 0 {
				bad("round %d: %d of %q was deleted, and is there", round, v, p.series)
			}
		}
		if round == 0 {
			w := s.Writer()
			id, err := w.Series("later host=x")
			if err == nil {
				err = errors.Join(w.Add(id, now, 1<<30), w.Close())
			}
			if err != nil {
				bad("going on: %v", err)
			}
			if err := s.keepLog(); err != nil {
				bad("keep log: %v", err)
			}
		} else if there[1<<30] != 1 {
			bad("what was written after the crash is there %d times", there[1<<30])
		}
		if err := s.Close(); err != nil {
			bad("close: %v", err)
		}
	}
	if r, err := Verify(ctx, "db", VerifyOptions{FS: d}); err != nil || noDamage && !r.OK() {
		bad("verify at the end: %+v %v", r, err)
	}
	return wrong
}

var sysModes = []string{"always", "interval", "never", "nolog"}

func TestCrashEverywhere(t *testing.T) {
	quickly(t)
	for _, mode := range sysModes {
		if *everywhereMode != "" && *everywhereMode != mode {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			r := newSysRun(t, mode)
			type image struct {
				k      int
				op     string
				d      *faulty.Disk
				points []sysPoint
				power  bool
				now    int64
			}
			looked, failures := 0, 0
			images := make(chan image, 4)
			var done sync.WaitGroup
			done.Go(func() {
				for i := range images {
					looked++
					if mode == "nolog" && !i.power {
						for j := range i.points {
							if i.points[j].stage == 1 && !i.points[j].synced || i.points[j].stage == 3 && !i.points[j].synced {
								i.points[j].stage = 0
							}
						}
					}
					if wrong := look(t, i.d, r.o, i.points, i.now, i.power, true); len(wrong) > 0 {
						if failures++; failures <= 8 {
							t.Errorf("operation %d (%s), power %v: %q", i.k, i.op, i.power, wrong)
						}
					}
				}
			})
			var mu sync.Mutex
			k := 0
			r.d.SetHook(func(op faulty.Op, name string) error {
				mu.Lock()
				k++
				n := k
				mu.Unlock()
				if op == faulty.Read || op == faulty.Open || n%*everywhereEvery != 0 || n < *everywhereFrom || n > *everywhereTo {
					return nil
				}
				before, _ := r.known()
				at := fmt.Sprint(op, " ", name)
				disks := []*faulty.Disk{r.d.Kill()}
				for seed := range uint64(*everywhereSeeds) {
					disks = append(disks, r.d.Crash(uint64(n)*1000+seed))
				}
				after, now := r.known()
				for i, d := range disks {
					images <- image{n, at, d, certain(before, after), i > 0, now}
				}
				return nil
			})
			s, err := Open(context.Background(), "db", r.o)
			if err != nil {
				t.Fatal(err)
			}
			r.s, r.w = s, s.Writer()
			r.run()
			if err := r.s.Close(); err != nil {
				t.Error(err)
			}
			close(images)
			done.Wait()
			t.Logf("%d operations, %d images, %d wrong; %d points", k, looked, failures, len(r.points))
		})
	}
}

// quickly looks at fewer operations in short runs.
func quickly(t *testing.T) {
	if every := *everywhereEvery; testing.Short() {
		*everywhereEvery = 16 * every
		t.Cleanup(func() { *everywhereEvery = every })
	}
}

// One operation fails, or all of a kind for a while, and the workload goes on as well as it can; then the program is
// killed, power is lost, or the store is closed.
func TestFailEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of stores are opened, which takes minutes with the race detector; TestTogether is what that is for")
	}
	for _, mode := range sysModes {
		if *everywhereMode != "" && *everywhereMode != mode {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			failures, looked := 0, 0
			total := 1 << 30
			for k := 1; k <= total; k += *everywhereEvery {
				for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
					r := newSysRun(t, mode)
					r.tolerant = true
					var mu sync.Mutex
					n, what := 0, ""
					rnd := rand.New(rand.NewPCG(uint64(k), uint64(errno)))
					length := 1 + rnd.IntN(2)*rnd.IntN(8) // how many operations fail in a row
					r.d.SetHook(func(op faulty.Op, name string) error {
						mu.Lock()
						defer mu.Unlock()
						n++
						if n >= k && n < k+length && op != faulty.Remove && (errno == syscall.EIO || op == faulty.Write || op == faulty.Open) {
							what += fmt.Sprint(op, " ", name, "; ")
							return errno
						}
						return nil
					})
					s, err := Open(context.Background(), "db", r.o)
					if err != nil {
						if r.d.SetHook(nil); len(look(t, r.d, r.o, nil, 1, false, true)) > 0 {
							t.Errorf("failed open, operation %d: cannot be opened later", k)
						}
						continue
					}
					r.s, r.w = s, s.Writer()
					r.run()
					r.d.SetHook(nil)
					if total == 1<<30 && what == "" {
						total = n
					}
					total = min(total, 6000)
					type image struct {
						d     *faulty.Disk
						power bool
						how   string
					}
					list := []image{{r.d.Kill(), false, "killed"}, {r.d.Crash(uint64(k)), true, "power"}}
					if mode == "nolog" {
						list = list[1:]
					}
					closeErr := s.Close()
					list = append(list, image{r.d.Kill(), mode == "nolog" && closeErr != nil, fmt.Sprint("closed: ", closeErr)})
					for _, i := range list {
						looked++
						if wrong := look(t, i.d, r.o, r.points, r.now, i.power, true); len(wrong) > 0 {
							if failures++; failures <= 10 {
								t.Errorf("operation %d %v failed (%s), %s: %q", k, errno, what, i.how, wrong)
							}
						}
					}
				}
			}
			t.Logf("%d operations, %d images, %d wrong", total, looked, failures)
		})
	}
}
