package series

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir/series/names"
)

var crashes = flag.Int("crashes", 40, "how often TestKilled kills a program")

const childVariable = "WEIR_SERIES_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := writeUntilKilled(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// The program that is killed has some writers, each of which adds points to a series of its own, numbered from 1 on, and
// says up to which number they are committed.
const crashWriters = 4

// crashOptions make everything happen often: full volumes, cuts of the log, checkpoints, closed series.
func crashOptions(seed uint64) Options {
	r := rand.New(rand.NewPCG(seed, 1))
	return Options{
		Sync:       []SyncMode{SyncInterval, SyncAlways, SyncNever}[r.IntN(3)],
		VolumeSize: 1 << 20,
		LogSize:    100 << 10,
		Memory:     []int64{0, 20 << 10}[r.IntN(2)],
		Reserve:    -1,
		segment:    32 << 10,
		OnProblem:  func(err error) { fmt.Println("error", err) },
	}
}

// crashPoint is the time of a point: one in five is late, some of them very.
func crashPoint(series int, number int64) (time int64, value float64) {
	time = number * 1000
	switch r := rand.New(rand.NewPCG(uint64(series), uint64(number))); r.IntN(10) {
	case 0:
		time -= r.Int64N(10_000)
	case 1:
		time -= r.Int64N(time + 1)
	}
	return time, float64(number)
}

func crashName(i int) string { return fmt.Sprintf("crash writer=%d", i) }

func writeUntilKilled(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, dir, crashOptions(uint64(time.Now().UnixNano())))
	if err != nil {
		return err
	}
	fmt.Println("opened")
	var group sync.WaitGroup
	errs := make([]error, crashWriters)
	for i := range crashWriters {
		group.Go(func() { errs[i] = writeNumbers(ctx, s, i) })
	}
	for {
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		var err error
		if rand.IntN(3) == 0 {
			err = s.Compact(ctx, nil)
		} else {
			err = s.Checkpoint()
		}
		if err != nil {
			return err
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

// writeNumbers goes on behind the last number that is there.
func writeNumbers(ctx context.Context, s *Store, i int) error {
	w := s.Writer()
	id, err := w.Series(crashName(i))
	if err != nil {
		return err
	}
	numbers, err := numbersOf(ctx, s, id)
	if err != nil {
		return err
	}
	next := int64(1)
	if len(numbers) > 0 {
		next = int64(slices.Max(numbers)) + 1
	}
	for {
		for range 1 + rand.IntN(400) {
			time, value := crashPoint(i, next)
			if err := w.Add(id, time, value); err != nil {
				return err
			}
			next++
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
		fmt.Println("committed", i, next-1)
	}
}

// numbersOf is the values of a series, in the order of their times.
func numbersOf(ctx context.Context, s *Store, id names.ID) (numbers []float64, err error) {
	points, err := s.Points(ctx, id, math.MinInt64, math.MaxInt64, false, nil)
	if err != nil {
		return nil, err
	}
	times, values := make([]int64, 1000), make([]float64, 1000)
	last := int64(math.MinInt64)
	for n := len(times); n == len(times); {
		if n, err = points.Next(times, values); err != nil {
			return nil, err
		}
		for _, t := range times[:n] {
			if t < last {
				return nil, fmt.Errorf("time %d behind %d", t, last)
			}
			last = t
		}
		numbers = append(numbers, values[:n]...)
	}
	return numbers, nil
}

// TestKilled kills a program that writes, again and again, at any moment: what it had been told is committed is there,
// once, and nothing else than what it wrote.
func TestKilled(t *testing.T) {
	rounds := *crashes
	if testing.Short() {
		rounds = 5
	}
	dir := t.TempDir()
	committed := make([]int64, crashWriters) // up to which number, in the last run
	there := make([][]float64, crashWriters) // what was there after it
	for round := range rounds {
		if round%20 == 19 { // an end without a kill, now and then
			s := mustOpen(t, dir, Options{})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		runAndKill(t, dir, committed)
		checkKilled(t, dir, committed, there)
	}
	r, err := Verify(context.Background(), dir, VerifyOptions{})
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	t.Logf("%d kills; committed %d", rounds, committed)
}

// runAndKill runs the program for a while, and notes what it says is committed.
func runAndKill(t *testing.T, dir string, committed []int64) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if rand.IntN(5) > 0 { // else it is killed while it opens the store
		if !lines.Scan() || lines.Text() != "opened" {
			t.Errorf("the program says %q", lines.Text())
		}
	}
	time.AfterFunc(time.Duration(rand.Int64N(int64(80*time.Millisecond))), func() { _ = cmd.Process.Kill() })
	for lines.Scan() {
		var i int
		var n int64
		switch line := lines.Text(); {
		case line == "opened":
		case strings.HasPrefix(line, "committed "):
			if k, _ := fmt.Sscanf(line, "committed %d %d", &i, &n); k == 2 { // the last line may be cut short
				committed[i] = n
			}
		default:
			t.Errorf("the program says %q", line)
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the program was not killed: %v", err)
	}
}

// checkKilled looks whether there is what was there before, and what was committed since. Of what was not committed
// there may be some.
func checkKilled(t *testing.T, dir string, committed []int64, there [][]float64) {
	t.Helper()
	ctx := context.Background()
	s := mustOpen(t, dir, Options{Reserve: -1})
	if r := s.Recovery(); len(r.Damage) > 0 {
		t.Fatalf("damage after a kill: %v", r.Damage[0])
	}
	for i := range committed {
		id, ok, err := s.Names().Lookup([]byte(crashName(i)))
		if err != nil || !ok && committed[i] > 0 {
			t.Fatalf("series %d: %v, %v", i, ok, err)
		}
		if !ok {
			continue
		}
		numbers, err := numbersOf(ctx, s, id)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(numbers)
		if unique := slices.Compact(slices.Clone(numbers)); len(unique) < len(numbers) {
			t.Fatalf("series %d has %d points twice", i, len(numbers)-len(unique))
		}
		want, next := there[i], int64(1)
		if len(want) > 0 {
			next = int64(want[len(want)-1]) + 1
		}
		for ; next <= committed[i]; next++ {
			want = append(want, float64(next))
		}
		if len(numbers) < len(want) || !slices.Equal(numbers[:len(want)], want) {
			t.Fatalf("series %d has %d points; up to number %d it should have %d", i, len(numbers), committed[i], len(want))
		}
		there[i] = numbers
	}
	// As a rule nobody closes what was opened after a crash before the next one.
	if rand.IntN(2) == 0 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	s.keeper.stop()
	s.abandon()
}
