// Package rows is the shape in which the answer to a query of series travels: batches of rows, in columns.
//
// A row has the name of a series and, as the query has it, a time, some values of which single ones may be missing, or
// a text. Batches are what producers, functions that change rows, and writers of formats hand to one another:
//
//	for i := range b.Len() {
//		fmt.Println(b.Name(i), b.Times[i], b.Row(i))
//	}
package rows

// MaxWidth is the greatest number of values in a row.
const MaxWidth = 64

// Shape is what the rows of an answer have beside their names.
type Shape uint8

const (
	Names  Shape = iota // nothing
	Scalar              // a time and one value; where the value is missing, the row has none
	Tuple               // a time and several values, or a list of one
	Text                // a time and a text
)

// Batch is some rows of one answer in their order. All columns that the shape of the answer has are of one length;
// the others are empty.
type Batch struct {
	Names  []string  // what the series are called
	Base   uint32    // the number, within the whole answer, of the series Names[0]; the others follow
	Series []uint32  // of each row: which of Names
	Times  []int64   // nanoseconds
	Width  int       // values of a row
	Values []float64 // of row i: Values[i*Width : (i+1)*Width]
	// Missing has a word for each row whose bit c tells that value c is missing (what Values has there means nothing).
	// It is empty where no row of the batch lacks a value.
	Missing []uint64
	Texts   []string
}

// Len is the number of rows.
func (b *Batch) Len() int { return len(b.Series) }

// Name is the name of the series of row i.
func (b *Batch) Name(i int) string { return b.Names[b.Series[i]] }

// Number is the number of the series of row i: the same in all batches of an answer, and different for each series.
func (b *Batch) Number(i int) int { return int(b.Base) + int(b.Series[i]) }

// Row is the values of row i, as part of Values.
func (b *Batch) Row(i int) []float64 { return b.Values[i*b.Width : (i+1)*b.Width : (i+1)*b.Width] }

// Gaps tells which values of row i are missing, a bit for each.
func (b *Batch) Gaps(i int) uint64 {
	if len(b.Missing) == 0 {
		return 0
	}
	return b.Missing[i]
}

// SetGaps changes which values of row i are missing.
func (b *Batch) SetGaps(i int, gaps uint64) {
	if len(b.Missing) == 0 {
		if gaps == 0 {
			return
		}
		b.Missing = append(b.Missing, make([]uint64, b.Len())...)
	}
	b.Missing[i] = gaps
}

// Full is the Gaps of a row that has none of its values.
func (b *Batch) Full() uint64 { return ^uint64(0) >> (64 - max(b.Width, 1)) }

// Clear makes the batch empty and keeps its memory.
func (b *Batch) Clear() {
	clear(b.Texts)
	*b = Batch{
		Series: b.Series[:0], Times: b.Times[:0], Values: b.Values[:0], Missing: b.Missing[:0], Texts: b.Texts[:0],
		Width: b.Width,
	}
}

// Move makes row i a copy of row j.
func (b *Batch) Move(i, j int) {
	if i == j {
		return
	}
	b.Series[i] = b.Series[j]
	if len(b.Times) > 0 {
		b.Times[i] = b.Times[j]
	}
	if len(b.Values) > 0 {
		copy(b.Row(i), b.Row(j))
	}
	if len(b.Missing) > 0 {
		b.Missing[i] = b.Missing[j]
	}
	if len(b.Texts) > 0 {
		b.Texts[i] = b.Texts[j]
	}
}

// Slice keeps the rows from i up to but not j.
func (b *Batch) Slice(i, j int) {
	if len(b.Times) > 0 {
		b.Times = b.Times[i:j]
	}
	if len(b.Values) > 0 {
		b.Values = b.Values[i*b.Width : j*b.Width]
	}
	if len(b.Missing) > 0 {
		b.Missing = b.Missing[i:j]
	}
	if len(b.Texts) > 0 {
		b.Texts = b.Texts[i:j]
	}
	b.Series = b.Series[i:j]
}
