package tree

import (
	"weir/series/aggregate"
	"weir/series/codec"
	"weir/series/node"
)

// leafBytes is where fill ends a leaf.
const leafBytes = 4096

// leaf is what becomes a leaf.
type leaf struct {
	vectors []node.Vector // in encoded
	encoded []byte
	texts   []byte // packed; none unless the points are events
	total   aggregate.Aggregate
}

// fill makes it a leaf of the first n points, which are in the order of their times: of all of them, or of as many as
// one leaf holds. The values of events are places in texts.
func (l *leaf) fill(times []int64, values []float64, texts *texts, hint *codec.Hint) (n int) {
	var ends [node.MaxVectors]int
	l.vectors, l.encoded, l.texts, l.total = l.vectors[:0], l.encoded[:0], nil, aggregate.Aggregate{}
	for n < len(times) && len(l.encoded) < leafBytes && len(l.vectors) < node.MaxVectors {
		k := min(codec.Max, len(times)-n)
		part := values[n : n+k]
		var zero [codec.Max]float64
		if texts != nil {
			k, l.texts = texts.gather(nil, part)
			part = zero[:k]
		}
		l.vectors = append(l.vectors, node.Vector{FirstTime: times[n]})
		l.encoded = codec.AppendTimes(l.encoded, hint, times[n:n+k])
		l.encoded = codec.AppendValues(l.encoded, hint, part)
		l.total.Add(times[n:n+k], part)
		ends[len(l.vectors)-1] = len(l.encoded)
		n += k
		if texts != nil {
			l.texts = texts.pack(l.texts)
			break // whoever reads events looks for one vector
		}
	}
	begin := 0
	for i := range l.vectors {
		l.vectors[i].Bytes = l.encoded[begin:ends[i]]
		begin = ends[i]
	}
	return n
}

// count counts a leaf of the series that was written.
func (s *state) count(ref *node.Ref) {
	s.leaves++
	if isSmall(ref) {
		s.small++
	}
}

// isSmall reports whether a leaf is less than half full.
func isSmall(ref *node.Ref) bool {
	return ref.Length < leafBytes/2 && ref.Count < maxOpenVectors*codec.Max/2
}
