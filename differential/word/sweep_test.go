package word_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/differential/word"
)

// index is the model of an index: the values it holds, and their words.
type index[T comparable] struct {
	words   map[uint64]T
	release func()
}

func newIndex[T comparable](c *word.Codec[T], columns bool) *index[T] {
	x := &index[T]{words: map[uint64]T{}}
	if columns {
		x.release = c.HoldColumns(func(to [][]uint64) [][]uint64 {
			all := slices.Collect(maps.Keys(x.words))
			return append(to, all[:len(all)/2], all[len(all)/2:], nil)
		})
		return x
	}
	x.release = c.Hold(func(mark func(w uint64)) {
		for w := range x.words {
			mark(w)
			mark(0)
		}
	})
	return x
}

func TestSweep(t *testing.T) {
	t.Run("string", func(t *testing.T) {
		sweep(t, func(i, pad int) string { return fmt.Sprint(strings.Repeat("x", pad), i) })
	})
	t.Run("struct", func(t *testing.T) {
		sweep(t, func(i, pad int) named { return named{fmt.Sprint(strings.Repeat("x", pad), i), i} })
	})
	t.Run("numbers", func(t *testing.T) {
		sweep(t, func(i, pad int) wide { return wide{uint64(i), uint64(pad)} })
	})
}

// sweep holds a lexicon against a model while indices come and go.
func sweep[T comparable](t *testing.T, of func(i, pad int) T) {
	rapid.Check(t, func(t *rapid.T) {
		var l word.Lexicons
		l.SetFuel(rapid.SampledFrom([]int{1, 30, 1000, 0}).Draw(t, "fuel"))
		c := codec[T](t, &l)
		var indices []*index[T]
		var kept []struct{ value, want T } // values that came from words and outlive them
		next := 0
		check := func(swept bool) {
			held := map[T]uint64{}
			for _, x := range indices {
				n := 0
				for w, want := range x.words {
					if n++; n > 100 && !swept {
						break // it is done often
					}
					if got := c.Value(w); got != want {
						t.Fatalf("word %d is of %v, was of %v", w, got, want)
					}
					if got := c.Word(want); got != w {
						t.Fatalf("%v has word %d, had %d", want, got, w)
					}
					if other, seen := held[want]; seen && other != w {
						t.Fatalf("%v has words %d and %d", want, w, other)
					}
					held[want] = w
				}
			}
			words := slices.Sorted(maps.Values(held))
			if len(slices.Compact(words)) != len(held) {
				t.Fatalf("%d values have %d words", len(held), len(words))
			}
			if values, _ := l.Size(); swept && values != len(held) {
				t.Fatalf("%d values known after a sweep, %d held", values, len(held))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) { // a batch of new or known values to an index
				if len(indices) == 0 || len(indices) < 4 && rapid.IntRange(0, 3).Draw(t, "new index") == 0 {
					indices = append(indices, newIndex(c, rapid.Bool().Draw(t, "columns")))
				}
				x := indices[rapid.IntRange(0, len(indices)-1).Draw(t, "index")]
				n := rapid.SampledFrom([]int{1, 10, 700, 2000}).Draw(t, "n")
				first := rapid.IntRange(max(0, next-n), next).Draw(t, "first")
				pad := rapid.SampledFrom([]int{0, 0, 10, 200, 3000}).Draw(t, "pad")
				for i := first; i < first+n; i++ {
					v := of(i, pad)
					x.words[c.Word(v)] = v
				}
				next = max(next, first+n)
			},
			"pass": func(t *rapid.T) { // values that no index will hold
				n := rapid.SampledFrom([]int{1, 1500}).Draw(t, "n")
				for range n {
					v := of(next, 1)
					kept = append(kept, struct{ value, want T }{c.Value(c.Word(v)), v})
					next++
				}
			},
			"drop": func(t *rapid.T) {
				if len(indices) == 0 {
					return // there is none yet
				}
				i := rapid.IntRange(0, len(indices)-1).Draw(t, "index")
				x := indices[i]
				of := uint64(rapid.IntRange(1, 20).Draw(t, "one of"))
				maps.DeleteFunc(x.words, func(w uint64, _ T) bool { return w%of == 0 || of > 15 && w%of != 0 })
				if rapid.Bool().Draw(t, "release") {
					x.release()
					x.release()
					indices = slices.Delete(indices, i, i+1)
				}
			},
			"tidy": func(*rapid.T) { l.Tidy() },
			"wait": func(*rapid.T) {
				for l.Tidy() {
				}
			},
			"copy": func(t *rapid.T) { // words go from index to index, as in a reduction
				if len(indices) < 2 {
					return // there are no two yet
				}
				maps.Copy(indices[0].words, indices[1].words)
			},
			"sweep": func(*rapid.T) { l.Sweep(); check(true) },
			"": func(*rapid.T) {
				check(false)
			},
		})
		for _, k := range kept {
			if k.value != k.want {
				t.Fatalf("a value that was kept is %v, was %v", k.value, k.want)
			}
		}
	})
}

// A window of 1,000 values moves over many: what is known stays a small multiple of it.
func TestMemoryIsBounded(t *testing.T) {
	var l word.Lexicons
	c := codec[string](t, &l)
	window := make([]uint64, 0, 1000)
	defer c.Hold(func(mark func(w uint64)) {
		for _, w := range window {
			mark(w)
		}
	})()
	largest, most := 0, 0
	for i := range 200_000 {
		if len(window) == cap(window) {
			window = append(window[:0], window[100:]...)
			l.Tidy()
		}
		window = append(window, c.Word(fmt.Sprintf("a value of some length: %d", i)))
		values, size := l.Size()
		most, largest = max(most, values), max(largest, size)
	}
	// At most twice what is live, and the batch that was being made; 29 bytes each.
	if most > 2300 || largest > 256<<10 {
		t.Errorf("up to %d values known, in %d bytes", most, largest)
	}
}

// What many values took is given back, whether they are forgotten at once or while others come.
func TestMemoryIsGivenBack(t *testing.T) {
	var l word.Lexicons
	c := codec[string](t, &l)
	held := map[uint64]int{}
	defer c.HoldColumns(func(to [][]uint64) [][]uint64 { return append(to, slices.Collect(maps.Keys(held))) })()
	add := func(from, to int) {
		for i := from; i < to; i++ {
			held[c.Word(fmt.Sprintf("a value of some length: %d", i))] = i
		}
	}
	check := func(size int) {
		t.Helper()
		for w, i := range held {
			if got, want := c.Value(w), fmt.Sprintf("a value of some length: %d", i); got != want || c.Word(want) != w {
				t.Fatalf("the value of %d is %q, was %q", w, got, want)
			}
		}
		if values, got := l.Size(); values != len(held) || got > size {
			t.Errorf("%d values known in %d bytes, %d held, want %d bytes", values, got, len(held), size)
		}
	}
	add(0, 100_000)
	check(9 << 20)
	maps.DeleteFunc(held, func(w uint64, _ int) bool { return w%1000 != 0 })
	l.Sweep()
	check(3 << 20) // one number of each page is in use
	clear(held)
	add(0, 100)
	l.Sweep()
	l.Sweep()
	check(1 << 20)
	add(0, 100_000)
	maps.DeleteFunc(held, func(w uint64, _ int) bool { return w > 5000 })
	for i := 0; l.Tidy(); i++ {
		add(100_000+i, 100_001+i)
	}
	l.Sweep()
	check(2 << 20)
}

func TestTidyWaitsForItsTime(t *testing.T) {
	var l word.Lexicons
	c := codec[uint64](t, &l)
	c.Hold(func(func(uint64)) { t.Error("the index of a packed type was visited") })()
	s := codec[string](t, &l)
	visits := 0
	defer s.Hold(func(mark func(w uint64)) { visits++ })()
	for i := range 1023 {
		s.Word(fmt.Sprint(i))
		l.Tidy()
	}
	if visits != 0 {
		t.Errorf("%d visits before the first is due", visits)
	}
	s.Word("one more")
	for l.Tidy() {
	}
	l.Tidy()
	if visits != 1 {
		t.Errorf("%d visits, want 1", visits)
	}
	s.Word(strings.Repeat("large", 1<<18))
	for l.Tidy() {
	}
	if visits != 2 {
		t.Errorf("%d visits after a large value, want 2", visits)
	}
}
