package text

import (
	"fmt"

	"weir/graph/names"
)

// Format is a way to write a graph as text.
type Format int

const (
	Auto         Format = iota // recognise by content
	EdgeList                   // a line an edge
	MatrixMarket               // %%MatrixMarket matrix coordinate …
	METIS                      // a line the neighbours of a vertex
	DIMACS                     // p sp …, a line an arc: a source target weight
)

// String names the format.
func (f Format) String() string {
	switch f {
	case Auto:
		return "auto"
	case EdgeList:
		return "edge list"
	case MatrixMarket:
		return "MatrixMarket"
	case METIS:
		return "METIS"
	case DIMACS:
		return "DIMACS shortest paths"
	}
	return fmt.Sprintf("format %d", int(f))
}

// IDs is what the ids of an edge list are.
type IDs int

const (
	AutoIDs    IDs = iota // integers if nearly all of the first lines have them, else strings
	IntegerIDs            // integers below 2⁶⁴
	StringIDs             // strings, also where they look like integers
)

// Choice is a property that the content decides unless it is decided here.
type Choice int

const (
	Guess Choice = iota
	Yes
	No
)

// Options say how to read. The zero Options recognise everything by content and
// refuse bad lines.
type Options struct {
	// Format is the format of the file.
	Format Format
	// IDs is what the ids of an edge list are.
	IDs IDs
	// Weights says whether an edge list has them. It is Yes where Columns has
	// three, and No where Columns has two.
	Weights Choice
	// Header says whether the first line of an edge list names its columns.
	Header Choice
	// Columns are the 1-based columns of source, target and, if there is one,
	// weight in an edge list. Nil is 1, 2 and perhaps 3.
	Columns []int
	// Separator of an edge list: '\t', ',', ';', '|' or, for any run of blanks
	// and tabs, ' '. 0 finds it.
	Separator byte
	// Missing are the fields that stand for no vertex: a row with one is counted
	// and is no edge. Nil is `\N`. An empty field is a bad line unless "" is here.
	Missing []string
	// Vertices, if positive, says that the integer ids 0 to Vertices-1 of an
	// edge list all exist and no others do.
	Vertices int
	// KeepIDs numbers the vertices of an edge list by their integer ids: 0 to
	// the largest one all exist.
	KeepIDs bool
	// SkipBad is how many bad lines are tolerated; negative is any number.
	SkipBad int
	// MaxLine is the longest line in bytes, at least 128; 0 is 64 MiB.
	MaxLine int
	// Threads parse at the same time; 0 is all processors.
	Threads int
	// ChunkSize is the unit of parallel work in bytes of text; 0 is 256 KiB.
	ChunkSize int
}

// DefaultChunkSize is the unit of parallel work in bytes of text: small enough that
// it stays in a core's own cache, with what it becomes.
const DefaultChunkSize = 256 << 10

const (
	defaultMaxLine = 64 << 20
	minMaxLine     = 128 // above that of any line which the fast path reads
	maxColumn      = 1 << 16
)

// settled checks the options and fills in the defaults.
func (o Options) settled() (Options, error) {
	if n := len(o.Columns); n != 0 && n != 2 && n != 3 {
		return o, fmt.Errorf("read graph: %d columns given, want those of source, target and perhaps weight", n)
	}
	for i, c := range o.Columns {
		if c < 1 || c > maxColumn {
			return o, fmt.Errorf("read graph: column %d, want 1 to %d", c, maxColumn)
		}
		for _, d := range o.Columns[:i] {
			if c == d {
				return o, fmt.Errorf("read graph: column %d given twice", c)
			}
		}
	}
	switch {
	case len(o.Columns) == 2 && o.Weights == Yes:
		return o, fmt.Errorf("read graph: weights wanted, but only columns %v given", o.Columns)
	case len(o.Columns) == 3 && o.Weights == No:
		return o, fmt.Errorf("read graph: no weights wanted, but columns %v given", o.Columns)
	case len(o.Columns) == 2:
		o.Weights = No
	case len(o.Columns) == 3:
		o.Weights = Yes
	}
	switch o.Separator {
	case 0, '\t', ',', ';', '|', ' ':
	default:
		return o, fmt.Errorf("read graph: separator %q, want a tab, comma, semicolon, bar or blank", o.Separator)
	}
	if o.Vertices < 0 || int64(o.Vertices) > names.Limit {
		return o, fmt.Errorf("read graph: %d vertices, want at most %d", o.Vertices, uint64(names.Limit))
	}
	if o.IDs == StringIDs && (o.KeepIDs || o.Vertices > 0) {
		return o, fmt.Errorf("read graph: string ids cannot be kept as numbers of vertices")
	}
	if o.KeepIDs && o.Vertices > 0 {
		return o, fmt.Errorf("read graph: a number of vertices and kept ids exclude each other")
	}
	if o.KeepIDs || o.Vertices > 0 {
		o.IDs = IntegerIDs
	}
	if o.Missing == nil {
		o.Missing = []string{`\N`}
	}
	if o.MaxLine <= 0 {
		o.MaxLine = defaultMaxLine
	}
	o.MaxLine = max(o.MaxLine, minMaxLine)
	if o.ChunkSize <= 0 {
		o.ChunkSize = DefaultChunkSize
	}
	return o, nil
}

// Chunk is a run of edges in file order. Its slices belong to whoever it is
// handed to, unless that calls Release.
type Chunk struct {
	// Edges are source<<32 | target.
	Edges []uint64
	// Weights has the weight of each edge, or is nil where there are none.
	Weights []float32
	// Raw says that the vertices are ids as they stand in the file, which
	// Result.Rank will renumber. The others are final.
	Raw bool

	pool *pool
}

// Release gives the slices back for reuse; the caller must not touch them again.
func (c Chunk) Release() {
	if c.pool != nil {
		c.pool.put(c.Edges, c.Weights)
	}
}

// Result is what is known once all edges have been read.
type Result struct {
	// Vertices is the number of vertices; every final id is below it.
	Vertices int
	// Edges is the number of edges that went to the sink, both directions counted.
	Edges int64
	// Rank renumbers the edges of raw chunks; nil where they are right already.
	Rank *names.Rank
	// Names are the original ids; nil where every vertex is called by its number.
	Names *names.Table
	// Undirected says that the file means undirected edges; both directions of
	// each were handed out.
	Undirected bool
	// Weighted says that edges have weights.
	Weighted bool
	// Report says what was found in the file.
	Report Report
}
