package differential_test

import (
	"fmt"
	"maps"
	"testing"

	"weir/differential"
	"weir/timely"
)

// indexed is a string that comes at a time of two coordinates.
type indexed struct {
	Epoch, Round uint64
	Text         string
}

// lengths is how many distinct strings there are of a length.
type lengths struct {
	Length string
	Count  int
}

// published runs an operator over times of two coordinates: epochs, and the rounds of a loop around nothing, and
// returns its differences. The input is given in order, or all at once.
func published[D comparable](t *testing.T, workers int, atOnce bool, input map[indexed]int64, operator func(differential.Collection[string]) differential.Collection[D]) map[timely.Time]map[D]int64 {
	t.Helper()
	var results timely.Results[differential.Update[D]]
	err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var in *differential.Input[indexed]
		w.Dataflow("published", func(s *timely.Scope) {
			var c differential.Collection[indexed]
			in, c = differential.NewInput[indexed](s)
			strings := c.EnterAt(s.Loop("rounds"), func(x indexed) uint64 { return x.Round }).Map(func(x indexed) string { return x.Text })
			operator(strings).Updates().Collect(&results)
		})
		if w.Index() > 0 {
			return nil
		}
		for epoch := range uint64(2) {
			if !atOnce {
				in.AdvanceTo(epoch)
			}
			for x, weight := range input {
				if x.Epoch == epoch {
					in.UpdateAt(epoch, x, weight)
				}
			}
			if !atOnce {
				for range 10 {
					if _, err := w.Step(); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[timely.Time]map[D]int64{}
	for _, u := range results.All() {
		at := got[u.Time]
		if at == nil {
			at = map[D]int64{}
			got[u.Time] = at
		}
		if at[u.Data] += u.Weight; at[u.Data] == 0 {
			if delete(at, u.Data); len(at) == 0 {
				delete(got, u.Time)
			}
		}
	}
	return got
}

// differences holds those of an operator against what was published, however the input comes.
func differences[D comparable](t *testing.T, input map[indexed]int64, want map[timely.Time]map[D]int64, operator func(differential.Collection[string]) differential.Collection[D]) {
	t.Helper()
	for workers := 1; workers <= 3; workers++ {
		for _, atOnce := range []bool{false, true} {
			got := published(t, workers, atOnce, input, operator)
			if !maps.EqualFunc(got, want, maps.Equal[map[D]int64, map[D]int64]) {
				t.Errorf("%d workers, all at once: %v: differences\n%v, expected\n%v", workers, atOnce, got, want)
			}
		}
	}
}

func distinctByLength(strings differential.Collection[string]) differential.Collection[lengths] {
	counts := strings.KeyBy(func(s string) (int, string) { return len(s), s }).
		Reduce("lengths", func(length int, values []differential.Weighted[string], emit func(lengths, int64)) {
			emit(lengths{fmt.Sprintf("length: %d", length), len(values)}, 1)
		})
	return counts.Map(func(_ int, l lengths) lengths { return l })
}

// The example of the first post on differential dataflow (McSherry, 2015-04-07): an operator that counts
// distinct strings by their length, over times (0,0), (0,1), (1,0) and (1,1).
func TestPublishedOperator(t *testing.T) {
	input := map[indexed]int64{
		{0, 0, "a"}: 1, {0, 0, "b"}: 3, {0, 0, "cc"}: 2,
		{0, 1, "a"}: -1, {0, 1, "b"}: -3,
		{1, 0, "a"}: -1, {1, 0, "b"}: -1,
		{1, 1, "a"}: 1, {1, 1, "b"}: 2,
	}
	differences(t, input, map[timely.Time]map[lengths]int64{
		{0, 0}: {{"length: 1", 2}: 1, {"length: 2", 1}: 1},
		{0, 1}: {{"length: 1", 2}: -1},
		{1, 0}: {{"length: 1", 1}: 1, {"length: 1", 2}: -1},
		// The one that "isn't obvious at all": what was taken away at both (0,1) and (1,0) is put back once.
		{1, 1}: {{"length: 1", 2}: 1},
	}, distinctByLength)
}

// Where nothing comes at (1,1) the operator must look there all the same, since changes at (0,1) and (1,0)
// meet: of both strings there is one less than none, which are two distinct ones.
func TestPublishedOperatorWithoutInput(t *testing.T) {
	input := map[indexed]int64{
		{0, 0, "a"}: 1, {0, 0, "b"}: 3, {0, 0, "cc"}: 2,
		{0, 1, "a"}: -1, {0, 1, "b"}: -3,
		{1, 0, "a"}: -1, {1, 0, "b"}: -1,
	}
	differences(t, input, map[timely.Time]map[lengths]int64{
		{0, 0}: {{"length: 1", 2}: 1, {"length: 2", 1}: 1},
		{0, 1}: {{"length: 1", 2}: -1},
		{1, 0}: {{"length: 1", 1}: 1, {"length: 1", 2}: -1},
		{1, 1}: {{"length: 1", 1}: -1, {"length: 1", 2}: 2},
	}, distinctByLength)
}

// The examples of the post of 2015-11-27: what is a difference in a partial order, and where
// distinct has to say something though nothing came.
func TestPublishedDistinct(t *testing.T) {
	distinct := func(strings differential.Collection[string]) differential.Collection[string] {
		return strings.Distinct()
	}
	differences(t, map[indexed]int64{
		{0, 0, "cat"}: 1, {0, 0, "dog"}: 1, {1, 0, "cat"}: 1, {0, 1, "dog"}: -1, {0, 1, "goat"}: 1,
	}, map[timely.Time]map[string]int64{
		{0, 0}: {"cat": 1, "dog": 1},
		{0, 1}: {"dog": -1, "goat": 1},
	}, distinct)
	differences(t, map[indexed]int64{{0, 3, "cat"}: 1, {1, 2, "cat"}: 1}, map[timely.Time]map[string]int64{
		{0, 3}: {"cat": 1},
		{1, 2}: {"cat": 1},
		{1, 3}: {"cat": -1},
	}, distinct)
}
