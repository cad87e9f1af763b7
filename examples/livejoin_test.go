package examples_test

import (
	"slices"
	"testing"
)

func checkLivejoin(t *testing.T, lines []string, _, _ int) {
	want := []string{
		"day 0: +1 Ada to the concert", "day 0: +1 Bob to the concert", "day 0: +1 Cay to the regatta",
		"day 1: +1 Ada to the fair", "day 1: +1 Bob to the fair",
		"day 2: -1 Ada to the concert", "day 2: -1 Ada to the fair", "day 2: +1 Ada to the regatta",
		"day 3: -1 Ada to the regatta", "day 3: -1 Cay to the regatta",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("the lines are\n%q, expected\n%q", lines, want)
	}
}
