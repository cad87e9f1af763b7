package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/graph"
	"weir/graph/ladder"
)

// Rungs of very different length are all to be seen: the axis is logarithmic then.
func TestPlotLadder(t *testing.T) {
	g := &opened{Graph: &graph.Graph{Source: "g.weir", Vertices: 3, Edges: 4}}
	for _, c := range []struct {
		last float64
		tick string // one that a linear axis to 2000 does not have
		want bool
	}{{0.5, ">1</text>", false}, {0.0005, ">1</text>", true}} {
		path := filepath.Join(t.TempDir(), "ladder.svg")
		rungs := []ladder.Rung{{Name: "slow", Seconds: 2}, {Name: "middle", Seconds: 1}, {Name: "fast", Seconds: c.last}}
		if err := g.plotLadder(path, rungs); err != nil {
			t.Fatal(err)
		}
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(svg), c.tick); got != c.want {
			t.Errorf("fastest rung of %v s: tick of 1 ms is there: %v, want %v", c.last, got, c.want)
		}
	}
}
