// Package text reads and writes graphs as text.
//
// [Read] recognises by content: edge lists (SNAP, TSV, CSV, GAP's .el and .wel),
// MatrixMarket, METIS and the DIMACS shortest path format, plain or compressed
// with gzip or zstd, from a file or standard input. It cuts the text at line
// ends into chunks, parses them on all threads, and hands edges to a sink in
// file order:
//
//	in, err := text.Open("wiki-Vote.txt.gz")
//	...
//	defer in.Close()
//	res, err := text.Read(ctx, in, text.Options{}, func(c text.Chunk) error {
//		...
//	})
//	fmt.Println(res.Vertices, res.Names.Name(0))
//
// [Write] and [Create] write the same formats.
//
// # Edge lists
//
// A line is an edge: a source, a target, perhaps a weight. Fields are separated
// by tabs, semicolons, commas, bars or runs of blanks, whichever the first lines
// are cut by. Lines that begin with # or % or // are comments. A field may be
// quoted; a quote within it is doubled or follows a backslash. Quoted fields do
// not go on over line ends. A third column is the weight if it is a number in all
// of the first lines, or in all but one of sixteen, which are bad then (say [No] to
// Options.Weights where it is a timestamp); further columns are ignored.
// Options.Columns picks others. A first line that is not numeric above lines that
// are, or that says "source,target" in one of the usual ways, is a header.
//
// Vertices are the ids that occur. Integers below 2³² come out as they are,
// with Chunk.Raw set, and Result.Rank renumbers them once all have been seen, if
// there are gaps. Where an integer of 2³² or above turns up, a dictionary takes
// over from there. Any other ids are strings, numbered in order of first
// appearance. The numbering depends on the text alone, not on the number of threads.
//
// # Matrices and the like
//
// MatrixMarket, METIS and DIMACS files say how many vertices there are and call
// them 1 to n; all exist, and keep these names. Symmetric matrices and METIS
// files are undirected: Read emits both directions of an edge, a self-loop once.
// The number of entries must be the one that the file promises.
//
// # Bad input
//
// A line that is not an edge is an error that names the file and the line, says
// what is wrong with it and shows it: a [LineError]. Options.SkipBad tolerates
// and counts such lines. Bad lines are:
//   - too few fields, or an empty endpoint;
//   - an integer id that is negative, not below 2⁶⁴, or outside of the range
//     that the file or Options.Vertices declares; anything else that is not an
//     integer, once the first lines have been integers;
//   - a weight that is missing, no decimal number, NaN, infinite, or too large for a
//     float32. Integers that a float32 rounds are counted in the report;
//   - an unclosed quote in a comma or semicolon separated file, and a byte 0.
//
// These end the reading whatever SkipBad says: a line above Options.MaxLine, a
// count that differs from the promised one, more than 2³²-1 vertices, a damaged
// or truncated gzip or zstd stream, UTF-16, lines that end in a carriage
// return alone, and text that does not look like text.
//
// These are fine: an empty file and a file of only comments (a graph without
// edges), a UTF-8 byte order mark, CRLF, a missing last line end, lines of any
// length up to MaxLine, self-loops and repeated edges (self-loops are counted),
// and rows whose endpoint is marked as missing (`\N`; see Options.Missing): they
// are counted and are no edges.
package text
