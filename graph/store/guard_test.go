package store

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/internal/mapfile"
)

// TestIDsBelow compares the quick check of ids with the plain one.
func TestIDsBelow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.OneOf(
			rapid.Int64Range(1, 10), rapid.Int64Range(1<<31-2, 1<<31+2), rapid.Int64Range(1, math.MaxUint32),
		).Draw(rt, "vertices")
		near := rapid.Custom(func(t *rapid.T) uint32 {
			return uint32(n + rapid.Int64Range(-3, 1).Draw(t, "distance")) // may wrap around
		})
		id := rapid.OneOf(near, rapid.Uint32Range(0, uint32(n-1)), rapid.SampledFrom([]uint32{0, 1 << 31, math.MaxUint32}))
		if rapid.Bool().Draw(rt, "sound") {
			id = rapid.Uint32Range(0, uint32(n-1))
		}
		ids := rapid.SliceOfN(id, 0, 30).Draw(rt, "ids")
		aligned := make([]uint64, (len(ids)+1)/2)
		data := mapfile.Bytes(aligned)[:4*len(ids)]
		copy(data, mapfile.Bytes(ids))
		want := slices.IndexFunc(ids, func(id uint32) bool { return int64(id) >= n })
		if err := idsBelow(n)(0, data); (err != nil) != (want >= 0) {
			rt.Fatalf("%v; the first id that is not below %d is number %d", err, n, want)
		}
	})
}
