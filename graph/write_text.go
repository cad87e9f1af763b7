package graph

import (
	"context"

	"weir/graph/text"
)

// textFormats are those of package text that can be written.
var textFormats = map[Format]text.Format{
	FormatEdges:  text.EdgeList,
	FormatMatrix: text.MatrixMarket,
	FormatMETIS:  text.METIS,
	FormatDIMACS: text.DIMACS,
}

// writeText writes one of the text formats, under the original ids.
func (g *Graph) writeText(ctx context.Context, path string, to Format) error {
	rows, err := g.Out(ctx)
	if err != nil {
		return err
	}
	return text.Create(ctx, path, text.FromCSR(rows, g.Names, g.Undirected), text.WriteOptions{Format: textFormats[to]})
}
