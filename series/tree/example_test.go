package tree_test

import (
	"fmt"
	"math"

	"weir/series/disk/faulty"
	"weir/series/tree"
	"weir/series/volume"
)

// A series is appended to, asked for its aggregate, and read; then another Forest is made of its nodes.
func Example() {
	volumes, err := volume.Open(faulty.New(), "db", volume.Options{Reserve: -1}) // disk.OS() for a real one
	if err != nil {
		panic(err)
	}
	f := tree.New(volumes, 0, 1, tree.DefaultLimits)
	for i := range int64(100_000) {
		if _, err := f.Append(7, i*1e9, float64(i%60), 0); err != nil {
			panic(err)
		}
	}
	if err := f.Flush(7); err != nil {
		panic(err)
	}

	hour, err := f.View(7, 3600e9, 7200e9-1).Aggregate()
	if err != nil {
		panic(err)
	}
	fmt.Println(hour.Count, hour.Min, hour.Max, hour.Mean())

	times, values := make([]int64, 3), make([]float64, 3)
	if _, err := f.View(7, math.MinInt64, math.MaxInt64).Points(true, nil).Next(times, values); err != nil {
		panic(err)
	}
	fmt.Println(times, values)

	again := tree.New(volumes, 0, 1, tree.DefaultLimits)
	if _, err := volumes.Scan(0, again.Restore, nil); err != nil {
		panic(err)
	}
	total, ok := again.Total(7)
	fmt.Println(total.Count, ok)

	// Output:
	// 3600 0 59 29.5
	// [99999000000000 99998000000000 99997000000000] [39 38 37]
	// 100000 true
}
