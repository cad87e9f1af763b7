package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"weir/internal/report"
)

// answer is what a run computed, reduced to a number that must be the same for
// every variant of a job. It is asked for after the clock has stopped.
type answer func() float64

// variant is one way to do a job.
type variant struct {
	name  string
	cores int
	// times is how often a run does the work; 0 means once.
	times int
	run   func(ctx context.Context) (answer, error)
}

// job is work that is measured in several variants, which take turns, so that
// what else the machine does meets all of them.
type job struct {
	name     string
	subject  *subject // nil where no graph is involved
	variants []variant
	// once says that repetitions would find the same.
	once bool
	// tolerance is by how much answers may differ, relative to the largest;
	// negative where they are not compared.
	tolerance float64
	// prepare is called before and the function it returns after all runs.
	prepare func(ctx context.Context) (done func(), err error)

	timings []timing // of each variant, once it is done
}

// timing is what the runs of a variant took, in seconds.
type timing struct {
	seconds []float64
	answer  float64
}

// median is the middle one, or between the middle two.
func (t timing) median() float64 {
	s := slices.Sorted(slices.Values(t.seconds))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

func (t timing) least() float64 { return slices.Min(t.seconds) }

// find is the timing of the variant of that name and number of cores.
func (j *job) find(name string, cores int) (timing, bool) {
	for i, v := range j.variants {
		if v.name == name && v.cores == cores {
			return j.timings[i], true
		}
	}
	return timing{}, false
}

// rounds is how often the variants of j take their turn; more often where they
// are over at once.
func (b *bench) rounds(j *job) int {
	if j.once {
		return 1
	}
	return b.opt.repetitions
}

// measure runs the job.
func (b *bench) measure(ctx context.Context, j *job) error {
	if j.prepare != nil {
		b.steps.name(j.title())
		done, err := j.prepare(ctx)
		if err != nil {
			return fmt.Errorf("prepare %s: %w", j.title(), err)
		}
		defer done()
	}
	j.timings = make([]timing, len(j.variants))
	spent := make([]time.Duration, len(j.variants))
	for round, more := 0, true; more; round++ {
		more = false
		for i, v := range j.variants {
			if b.again(j, round, spent[i]) {
				b.steps.name(fmt.Sprintf("%s: %s, %s", j.title(), v.name, cores(v.cores)))
				took, err := j.timings[i].add(ctx, v)
				if err != nil {
					return fmt.Errorf("%s: %s, %s: %w", j.title(), v.name, cores(v.cores), err)
				}
				spent[i] += took
			}
			if round < b.rounds(j) {
				b.steps.advance()
			}
			more = more || b.again(j, round+1, spent[i])
		}
	}
	return j.compare()
}

// mostRounds bounds how often what is over at once is run.
const mostRounds = 50

// again says whether a variant that has run for so long runs in this round.
func (b *bench) again(j *job, round int, spent time.Duration) bool {
	switch {
	case round == 0:
		return true
	case round < b.rounds(j):
		return spent <= b.opt.patience
	}
	return !j.once && round < mostRounds && spent < b.opt.atLeast
}

// add runs v once more.
func (t *timing) add(ctx context.Context, v variant) (time.Duration, error) {
	runtime.GC() // so that a run does not pay for the garbage of another
	begin := time.Now()
	result, err := v.run(ctx)
	took := time.Since(begin)
	if err != nil {
		return 0, err
	}
	t.answer = result()
	t.seconds = append(t.seconds, took.Seconds()/float64(max(v.times, 1)))
	return took, nil
}

// compare makes sure that what was measured computes the same thing.
func (j *job) compare() error {
	if j.tolerance < 0 {
		return nil
	}
	first := j.timings[0].answer
	for i, t := range j.timings {
		if !(math.Abs(t.answer-first) <= j.tolerance*max(math.Abs(first), math.Abs(t.answer))) {
			return fmt.Errorf("%s: %s on %s found %v, but %s on %s found %v", j.title(),
				j.variants[0].name, cores(j.variants[0].cores), first, j.variants[i].name, cores(j.variants[i].cores), t.answer)
		}
	}
	return nil
}

func (j *job) title() string {
	if j.subject == nil {
		return j.name
	}
	return j.subject.name + ", " + j.name
}

// cores says how many, in words.
func cores(n int) string { return report.Count(n, "core") }
