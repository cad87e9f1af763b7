package names

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestPermute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		ids := make([]uint64, n)
		words := make([]string, n)
		for i := range ids {
			ids[i] = uint64(3*i + 7)
			words[i] = fmt.Sprintf("v%d", i*i)
		}
		table := map[string]*Table{
			"identity": nil, "shifted": Offset(1, n), "increasing": Ascending(ids), "listed": List(ids), "text": Of(words...),
		}[rapid.SampledFrom([]string{"identity", "shifted", "increasing", "listed", "text"}).Draw(t, "kind")]
		number := make([]uint32, n)
		for v, to := range rand.New(rand.NewPCG(seed, 1)).Perm(n) {
			number[v] = uint32(to)
		}
		p := table.Permute(number)
		for v, to := range number {
			if got, want := p.Name(to), table.Name(uint32(v)); got != want {
				t.Fatalf("vertex %d, once %d, is called %q, expected %q", to, v, got, want)
			}
			if found, ok := p.Find(table.Name(uint32(v))); !ok || found != to {
				t.Fatalf("%q is vertex %d (%v), expected %d", table.Name(uint32(v)), found, ok, to)
			}
		}
	})
}
