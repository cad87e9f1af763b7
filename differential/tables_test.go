package differential_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"weir/differential"
	"weir/timely"
)

type textsOf = differential.Collection[string]

// pairs takes records such as x→1 as keys and values.
func splitPairs(c textsOf) differential.Keyed[string, string] {
	return c.KeyBy(func(x string) (string, string) {
		k, v, _ := strings.Cut(x, "→")
		return k, v
	})
}

func shown[V comparable](k differential.Keyed[string, V]) textsOf {
	return k.Map(func(key string, v V) string { return fmt.Sprintf("%s→%v", key, v) })
}

// operators are those of the tables of docs/differential.md, as they are written there; c and d are the inputs, k and j the
// same as keys and values.
var operators = map[string]func(c, d textsOf) textsOf{
	"c.Map(upper)": func(c, _ textsOf) textsOf { return c.Map(strings.ToUpper) },
	"c.FlatMap(letters)": func(c, _ textsOf) textsOf {
		return c.FlatMap(func(x string, emit func(string)) {
			for _, r := range x {
				emit(string(r))
			}
		})
	},
	"c.Filter(short)":      func(c, _ textsOf) textsOf { return c.Filter(func(x string) bool { return len(x) == 1 }) },
	"c.Concat(d)":          func(c, d textsOf) textsOf { return c.Concat(d) },
	"c.Negate()":           func(c, _ textsOf) textsOf { return c.Negate() },
	"c.Concat(d.Negate())": func(c, d textsOf) textsOf { return c.Concat(d.Negate()) },
	"c.Distinct()":         func(c, _ textsOf) textsOf { return c.Distinct() },
	"Frequencies(c)":       func(c, _ textsOf) textsOf { return shown(differential.Frequencies(c)) },
	"k.Keys()":             func(c, _ textsOf) textsOf { return splitPairs(c).Keys() },
	"k.MapValues(upper)": func(c, _ textsOf) textsOf {
		return shown(splitPairs(c).MapValues(func(_, v string) string { return strings.ToUpper(v) }))
	},
	"k.SemiJoin(d)": func(c, d textsOf) textsOf { return shown(splitPairs(c).SemiJoin(d)) },
	"k.AntiJoin(d)": func(c, d textsOf) textsOf { return shown(splitPairs(c).AntiJoin(d)) },
	"k.Count()":     func(c, _ textsOf) textsOf { return shown(splitPairs(c).Count()) },
	"k.Min()":       func(c, _ textsOf) textsOf { return shown(splitPairs(c).Min()) },
	"k.Max()":       func(c, _ textsOf) textsOf { return shown(splitPairs(c).Max()) },
	"k.TopK(2)":     func(c, _ textsOf) textsOf { return shown(splitPairs(c).TopK(2)) },
	"k.Distinct()":  func(c, _ textsOf) textsOf { return shown(splitPairs(c).Distinct()) },
	"k.Join(j, concatenated)": func(c, d textsOf) textsOf {
		return shown(splitPairs(c).Join(splitPairs(d), func(k, v, w string) (string, string) { return k, v + w }))
	},
	"k.Sum(number)": func(c, _ textsOf) textsOf {
		return shown(splitPairs(c).Sum(func(v string) int64 {
			n, _ := strconv.ParseInt(v, 10, 64)
			return n
		}))
	},
	"k.Threshold(twice)": func(c, _ textsOf) textsOf {
		return shown(splitPairs(c).Threshold(func(_, _ string, n int64) int64 { return min(n, 2) }))
	},
	`k.Reduce("join", all)`: func(c, _ textsOf) textsOf {
		return shown(splitPairs(c).Reduce("join", func(_ string, values []differential.Weighted[string], emit func(string, int64)) {
			var all strings.Builder
			for _, v := range values {
				all.WriteString(v.Value)
			}
			emit(all.String(), 1)
		}))
	},
}

// parseCell returns the weights of records in a cell such as a×2, x→1, or changes such as +a, −b×2.
func parseCell(t *testing.T, cell string) map[string]int64 {
	all := map[string]int64{}
	for part := range strings.SplitSeq(cell, ",") {
		part = strings.TrimSpace(part)
		if part == "" || part == "nothing" {
			continue
		}
		sign := int64(1)
		if rest, ok := strings.CutPrefix(part, "−"); ok {
			part, sign = rest, -1
		}
		name, times, several := strings.Cut(strings.TrimPrefix(part, "+"), "×")
		if several {
			n, err := strconv.ParseInt(times, 10, 64)
			if err != nil {
				t.Fatalf("cell %q: %v", cell, err)
			}
			sign *= n
		}
		all[name] += sign
	}
	return all
}

// parseInputs returns the weights of both inputs, which a semicolon parts.
func parseInputs(t *testing.T, cell string) [2]map[string]int64 {
	c, d, _ := strings.Cut(cell, ";")
	return [2]map[string]int64{parseCell(t, c), parseCell(t, d)}
}

// TestTables runs each row of the tables of operators in docs/differential.md.
func TestTables(t *testing.T) {
	text, err := os.ReadFile("../docs/differential.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		operator, known := operators[name]
		if !known || len(cells) != 5 {
			if len(cells) == 5 && strings.Contains(cells[0], "`") {
				t.Errorf("operator %s is not one that is tested", cells[0])
			}
			continue
		}
		seen[name] = true
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		for workers := 1; workers <= 2; workers++ {
			got := runTwice(t, workers, operator, parseInputs(t, cells[1]), parseInputs(t, cells[3]))
			for epoch, cell := range []string{cells[2], cells[4]} {
				want := parseCell(t, cell)
				if fmt.Sprint(want) != fmt.Sprint(got[epoch]) {
					t.Errorf("%s on %d workers, epoch %d: %v, the page says %v", name, workers, epoch, got[epoch], want)
				}
			}
		}
	}
	for name := range operators {
		if !seen[name] {
			t.Errorf("the page does not show %s", name)
		}
	}
}

// runTwice runs an operator over inputs and changes to them, and returns what changes in each epoch.
func runTwice(t *testing.T, workers int, operator func(c, d textsOf) textsOf, epochs ...[2]map[string]int64) [2]map[string]int64 {
	t.Helper()
	var results timely.Results[differential.Update[string]]
	err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var in [2]*differential.Input[string]
		w.Dataflow("operator", func(s *timely.Scope) {
			var c, d textsOf
			in[0], c = differential.NewInput[string](s)
			in[1], d = differential.NewInput[string](s)
			operator(c, d).Updates().Collect(&results)
		})
		if w.Index() > 0 {
			return nil
		}
		for epoch, inputs := range epochs {
			for i := range in {
				in[i].AdvanceTo(uint64(epoch))
				for x, n := range inputs[i] {
					in[i].Update(x, n)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := [2]map[string]int64{{}, {}}
	for _, u := range results.All() {
		if got[u.Time[0]][u.Data] += u.Weight; got[u.Time[0]][u.Data] == 0 {
			delete(got[u.Time[0]], u.Data)
		}
	}
	return got
}
