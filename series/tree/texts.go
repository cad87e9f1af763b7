package tree

import (
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"weir/series/codec"
	"weir/series/node"
)

// texts holds the texts of events. The value of an event in memory is the place of its text in here.
type texts struct {
	bytes []byte
}

// maxTexts is how many bytes of texts a leaf has at most, but for the last of them.
const maxTexts = 16 << 10

func place(at int) float64 { return math.Float64frombits(uint64(at)) }

// put adds a text and returns its place.
func (t *texts) put(text []byte) float64 {
	at := len(t.bytes)
	t.bytes = node.AppendText(t.bytes, text)
	return place(at)
}

// at is the text at a place.
func (t *texts) at(value float64) []byte {
	text, _, err := node.NextText(t.bytes[math.Float64bits(value):])
	if err != nil {
		panic(fmt.Sprintf("no text at place %d of %d bytes: %v", math.Float64bits(value), len(t.bytes), err))
	}
	return text
}

// gather appends texts, each with its length in front, until a leaf has enough, and returns how many.
func (t *texts) gather(dst []byte, values []float64) (n int, texts []byte) {
	for n < len(values) && n < codec.Max && (n == 0 || len(dst) < maxTexts) {
		dst = node.AppendText(dst, t.at(values[n]))
		n++
	}
	return n, dst
}

// The first byte of the texts of a leaf says how they are written.
const (
	textsRaw  = 0
	textsZstd = 1
)

var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(8<<20))
)

// pack is the texts of a leaf as they are written.
func (t *texts) pack(raw []byte) []byte {
	if packed := encoder.EncodeAll(raw, []byte{textsZstd}); len(packed) <= len(raw) {
		return packed
	}
	return append([]byte{textsRaw}, raw...)
}

// unpack is the inverse of pack.
func unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, fmt.Errorf("%w: a leaf of events without texts", node.ErrCorrupt)
	}
	switch packed[0] {
	case textsRaw:
		return packed[1:], nil
	case textsZstd:
		raw, err := decoder.DecodeAll(packed[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: texts: %w", node.ErrCorrupt, err)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("%w: texts are written in way %d, which is not known", node.ErrCorrupt, packed[0])
}
