package text_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"weir/graph/text"
)

func ExampleRead() {
	in, err := text.NewInput("votes.csv", strings.NewReader("# who votes for whom\nfrom,to\n30,1412\n30,3352\n1412,30\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()
	var edges []uint64
	raw := 0 // how many of the edges came in raw chunks, which are the first ones
	res, err := text.Read(context.Background(), in, text.Options{}, func(c text.Chunk) error {
		edges = append(edges, c.Edges...)
		if c.Raw {
			raw = len(edges)
		}
		c.Release()
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res.Rank.Apply(edges[:raw]) // ids with gaps become 0 to n-1
	for _, e := range edges {
		s, t := uint32(e>>32), uint32(e)
		fmt.Printf("%d -> %d, which are %s and %s\n", s, t, res.Names.Name(s), res.Names.Name(t))
	}
	fmt.Print(res.Report)
	// Output:
	// 0 -> 1, which are 30 and 1412
	// 0 -> 2, which are 30 and 3352
	// 1 -> 0, which are 1412 and 30
	// votes.csv: edge list separated by commas, 5 lines, 3 edges, ids are 3 integers with gaps, up to 3352
	//   header: "from,to"
	//   1 comment lines
}

func ExampleWrite() {
	g := text.Source{
		Vertices: 3, Edges: 2,
		Each: func(_ context.Context, row func(v uint32, targets []uint32, weights []float32) error) error {
			return row(1, []uint32{0, 2}, nil)
		},
	}
	if err := text.Write(context.Background(), os.Stdout, g, text.WriteOptions{Format: text.MatrixMarket}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %%MatrixMarket matrix coordinate pattern general
	// 3 3 2
	// 2 1
	// 2 3
}
