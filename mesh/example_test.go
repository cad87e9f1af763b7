package mesh_test

import (
	"context"
	"fmt"
	"sync"

	"weir/mesh"
)

// Two workers send one another a batch.
func ExampleStart() {
	m, err := mesh.Start(context.Background(), mesh.Config{Threads: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	sums := make([]int, 2)
	var workers sync.WaitGroup
	for _, p := range m.Workers() {
		workers.Go(func() {
			to, from, err := p.Open[[]int]("numbers")
			if err != nil {
				m.Fail(err)
				return
			}
			to[1-p.Index()].Send([]int{1, 2, 3 + p.Index()})
			var batches [][]int
			for len(batches) == 0 && p.Err() == nil {
				p.Park(0)
				p.Ready(func(channel int) {
					if channel == from.ID() {
						batches = from.Take(batches)
					}
				})
			}
			for _, batch := range batches {
				for _, n := range batch {
					sums[p.Index()] += n
				}
			}
		})
	}
	workers.Wait()
	fmt.Println(sums, m.Close())
	// Output: [7 6] <nil>
}
