package tree

import (
	"math"

	"weir/series/codec"
	"weir/series/node"
)

// queue is points that were read, and are to be written in leaves: always as many as the largest leaf holds and one
// more, until the end, or until a node that stays as it is.
type queue struct {
	w      *walk // nil at the end
	events bool

	times  []int64
	values []float64
	texts  [][]byte
	begin  int       // those before it are gone
	kept   *node.Ref // to a node that stays, behind the points; nil if there is none
	bytes  int       // of the texts from there on

	packed texts // of front
	places []float64
}

// mostPoints is how many points a leaf has at most.
const mostPoints = node.MaxVectors * codec.Max

func (q *queue) enough() bool {
	n := len(q.times) - q.begin
	return q.kept != nil || n > mostPoints || q.events && (n > codec.Max || q.bytes > 2*maxTexts)
}

// fill reads until there is enough for a leaf.
func (q *queue) fill() error {
	if q.begin > mostPoints || q.events {
		q.times, q.values = append(q.times[:0], q.times[q.begin:]...), append(q.values[:0], q.values[q.begin:]...)
		if q.events {
			q.texts = append(q.texts[:0], q.texts[q.begin:]...)
		}
		q.begin = 0
	}
	for q.w != nil && !q.enough() {
		it, err := q.w.next(math.MaxInt64)
		if err != nil {
			return err
		}
		if it == nil {
			q.w = nil
			break
		}
		if it.kind == subtree {
			q.kept = &it.ref
			break
		}
		q.add(it)
	}
	return nil
}

// add adds points behind the others.
func (q *queue) add(it *item) {
	for _, text := range it.texts {
		q.bytes += len(text)
	}
	q.times, q.values, q.texts = append(q.times, it.times...), append(q.values, it.values...), append(q.texts, it.texts...)
}

// front is the points, with texts if they are events, none at the end or before a node that stays. It is valid until the next call.
func (q *queue) front() (times []int64, values []float64, texts *texts) {
	times, values = q.times[q.begin:], q.values[q.begin:]
	if !q.events {
		return times, values, nil
	}
	n := min(len(times), codec.Max)
	q.packed.bytes, q.places = q.packed.bytes[:0], q.places[:0]
	for _, text := range q.texts[q.begin : q.begin+n] {
		q.places = append(q.places, q.packed.put(text))
	}
	return times[:n], q.places, &q.packed
}

// drop takes off the first n points.
func (q *queue) drop(n int) {
	if q.events {
		for _, text := range q.texts[q.begin : q.begin+n] {
			q.bytes -= len(text)
		}
	}
	q.begin += n
}
