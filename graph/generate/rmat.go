package generate

import (
	"fmt"
	"math"
	"math/bits"
)

// An RMAT edge is found by walking down a quadtree over the adjacency matrix.
// Instead of one level at a time, four levels are drawn together: 256 outcomes,
// by the alias method (Walker, 1977; the construction is Vose's, 1991), so that a
// walk of 20 levels is five draws of 32 bits.

// drawLevels is the number of levels of a draw.
const drawLevels = 4

// alias holds, for each of the 256 columns of an alias table, its two outcomes
// and the limit (of 2^24) from which on the second is taken. Outcomes are spread:
// the four bits of the row begin at bit 32, those of the column at bit 0, so that
// one shift makes room for both.
type alias [1 << (2 * drawLevels)]struct {
	outcome [2]uint64
	limit   int64
}

type rmat struct {
	key     uint64
	draws   []alias // one a group of four levels, from the top of the matrix
	excess  uint    // levels drawn beyond the scale
	plain   bool
	shuffle permutation
}

func newRMAT(s Spec) (*rmat, error) {
	p := [4]float64{s.A, s.B, s.C, s.D}
	if p == [4]float64{} {
		p = [4]float64{0.57, 0.19, 0.19, 0.05}
	}
	var sum float64
	for _, x := range p {
		if !(x >= 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("quadrants a=%v b=%v c=%v d=%v: want probabilities", s.A, s.B, s.C, s.D)
		}
		sum += x
	}
	for i := range p {
		p[i] /= sum
	}
	if !(s.Noise >= 0 && s.Noise <= 1) {
		return nil, fmt.Errorf("noise %v: want 0 to 1", s.Noise)
	}
	scale := s.Scale
	if scale == 0 {
		scale = bits.Len64(uint64(s.Vertices)) - 1
	}
	groups := (scale + drawLevels - 1) / drawLevels
	r := &rmat{
		key: key(s.Seed, streamEnds), draws: make([]alias, groups), excess: uint(groups*drawLevels - scale),
		plain: s.PlainIDs, shuffle: newPermutation(scale, s.Seed),
	}
	noise := key(s.Seed, streamNoise)
	for g := range r.draws {
		var levels [drawLevels][4]float64
		for l := range levels {
			levels[l] = perturb(p, s.Noise, at(noise, uint64(g*drawLevels+l)))
		}
		r.draws[g] = newAlias(levels)
	}
	return r, nil
}

// perturb moves probability between the diagonal and the rest of the quadrants
// by a random share of what noise allows, so that all stay at least zero.
func perturb(p [4]float64, noise float64, random uint64) [4]float64 {
	if noise == 0 {
		return p
	}
	diagonal, rest := p[0]+p[3], p[1]+p[2]
	mu := (2*unit(random) - 1) * noise * min(diagonal/2, rest/2)
	if diagonal == 0 || rest == 0 {
		return p
	}
	return [4]float64{
		p[0] * (1 - 2*mu/diagonal), p[1] * (1 + 2*mu/rest),
		p[2] * (1 + 2*mu/rest), p[3] * (1 - 2*mu/diagonal),
	}
}

// newAlias is the table of the outcomes of four levels, each with the
// probabilities of its quadrants.
func newAlias(levels [drawLevels][4]float64) alias {
	var t alias
	weight := make([]float64, len(t))
	spread := make([]uint64, len(t))
	var small, large []int
	for i := range t {
		w := 1.0
		for l := range levels {
			quadrant := i >> (2 * (drawLevels - 1 - l)) & 3
			w *= levels[l][quadrant]
			spread[i] = spread[i]<<1 | uint64(quadrant>>1)<<32 | uint64(quadrant&1)
		}
		weight[i] = w * float64(len(t))
		if weight[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t[s].outcome, t[s].limit = [2]uint64{spread[s], spread[l]}, int64(math.Round(weight[s]*(1<<24)))
		weight[l] -= 1 - weight[s]
		if weight[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// What is left has weight one, but for rounding.
	for _, i := range append(small, large...) {
		t[i].outcome, t[i].limit = [2]uint64{spread[i], spread[i]}, 1<<24
	}
	return t
}

func (r *rmat) fill(dst []uint64, first int64) {
	draws, shuffle := r.draws, r.shuffle
	words := uint64(len(draws)+1) / 2
	counter := uint64(first) * words
	for i := range dst {
		var ends, word uint64
		for g := range draws {
			if g&1 == 0 {
				word = at(r.key, counter)
				counter++
			}
			column := &draws[g][word&0xff]
			// The sign says which outcome: a branch would be mispredicted half the time.
			second := uint64(column.limit-1-int64(uint32(word)>>8)) >> 63
			ends = ends<<drawLevels | column.outcome[second]
			word >>= 32
		}
		source, target := ends>>32>>r.excess, uint64(uint32(ends))>>r.excess
		if !r.plain {
			source, target = shuffle.of(source), shuffle.of(target)
		}
		dst[i] = source<<32 | target
	}
}
