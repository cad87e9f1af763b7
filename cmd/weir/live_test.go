package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/graph/order"
)

// liveRows are the edges of a file: one of them twice.
func liveRows() *order.CSR {
	return &order.CSR{Offsets: []uint64{0, 2, 4, 4}, Targets: []uint32{1, 1, 0, 2}}
}

// FuzzLiveRead holds what is read against the rules: the transactions that come out are all there is, no edge is
// there less than no time, and what was undone has left nothing behind.
func FuzzLiveRead(f *testing.F) {
	for _, text := range []string{
		"+ 0 1\ncommit\n- 0 1\n- 0 1\n- 0 1\ncommit\n- 0 1\ncommit",
		"# nothing\n\n  + 2 7 \ncommit\n+ 7 2\n- 7 2\n- 2 7\ncommit\n",
		"- 2 0\ncommit\n+ 0 1\n+ \"0\" \"1\"\ncommit",
		"+ 0 1\n? 1 2\ncommit\n+ 1 2\ncommit",
		"+ 0 99999999999999999999\n+ a b\ncommit",
	} {
		f.Add(text, true, true)
		f.Add(text, false, false)
	}
	f.Fuzz(func(t *testing.T, text string, keepGoing, undirected bool) {
		g := &liveGraph{rows: liveRows(), undirected: undirected, names: liveNames{vertices: 3}}
		counts := map[uint64]int64{}
		for v := range uint32(3) {
			for _, u := range g.rows.Neighbours(v) {
				counts[order.Pack(v, u)]++
			}
		}
		if undirected {
			g.rows = &order.CSR{Offsets: []uint64{0, 2, 5, 6}, Targets: []uint32{1, 1, 0, 0, 2, 1}}
			counts = map[uint64]int64{order.Pack(0, 1): 2, order.Pack(1, 0): 2, order.Pack(1, 2): 1, order.Pack(2, 1): 1}
		}
		first := maps.Clone(counts)
		vertices := map[uint32]bool{}
		problems := 0
		g.read("text", strings.NewReader(text), keepGoing, func(tr liveTransaction) bool {
			if tr.problem != nil {
				if problems++; !strings.HasPrefix(tr.problem.Error(), "text:") || len(tr.changes) > 0 {
					t.Errorf("problem %v with %d changes", tr.problem, len(tr.changes))
				}
				return true
			}
			if problems > 0 && !keepGoing {
				t.Error("it went on after a problem")
			}
			for _, v := range tr.vertices {
				if vertices[v] || v < 3 {
					t.Errorf("vertex %d is new again", v)
				}
				vertices[v] = true
			}
			for _, c := range tr.changes {
				if counts[order.Pack(c.edge.Key, c.edge.Value)] += c.weight; c.edge.Key >= 3 && !vertices[c.edge.Key] || c.edge.Value >= 3 && !vertices[c.edge.Value] {
					t.Errorf("edge %v has a vertex that nobody was told of", c.edge)
				}
			}
			return true
		})
		for edge, n := range counts {
			if n < 0 {
				t.Errorf("edge %x is there %d times", edge, n)
			}
			if a, b := uint32(edge>>32), uint32(edge); undirected && n != counts[order.Pack(b, a)] {
				t.Errorf("edge %x and its reverse are not there as often", edge)
			} else if (!undirected || a <= b) && g.delta[edge] != n-first[edge] {
				t.Errorf("edge %x changed by %d, expected %d", edge, g.delta[edge], n-first[edge])
			}
		}
		for edge, n := range g.delta {
			if n == 0 || counts[edge]-first[edge] != n {
				t.Errorf("edge %x changed by %d in no transaction", edge, n)
			}
		}
	})
}

// Random edges move such that each that goes was there, and as many are there as before.
func TestLiveRewire(t *testing.T) {
	for _, undirected := range []bool{false, true} {
		rows := liveRows()
		if undirected {
			rows = &order.CSR{Offsets: []uint64{0, 2, 5, 6}, Targets: []uint32{1, 1, 0, 0, 2, 1}}
		}
		g := &liveGraph{rows: rows, undirected: undirected}
		counts := map[[2]uint32]int64{}
		for v := range uint32(3) {
			for _, u := range rows.Neighbours(v) {
				counts[[2]uint32{v, u}]++
			}
		}
		moved := 0
		g.rewire(&liveFlags{rewire: 100, batch: 7, seed: 3}, func(tr liveTransaction) bool {
			if moved += tr.added; tr.added != tr.removed || tr.added > 7 {
				t.Errorf("%d added, %d removed", tr.added, tr.removed)
			}
			for _, c := range tr.changes {
				edge := [2]uint32{c.edge.Key, c.edge.Value}
				if counts[edge] += c.weight; counts[edge] < 0 {
					t.Fatalf("undirected %v: edge %v was not there", undirected, edge)
				}
			}
			return true
		})
		if moved != 100 {
			t.Errorf("%d edges moved, expected 100", moved)
		}
	}
}

func TestLiveFields(t *testing.T) {
	for line, want := range map[string][]string{
		`+ a b`: {"+", "a", "b"}, "-\ta  b": {"-", "a", "b"}, `+ "a b" c`: {"+", "a b", "c"},
		`"say ""hi""" ""`: {`say "hi"`, ""}, `+ a"b c`: {"+", `a"b`, "c"}, `+ "a`: nil, `+ "a"b c`: nil,
	} {
		if got, ok := liveFields(line); !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%s: fields %q, %v", line, got, ok)
		}
	}
}
