package codec

import (
	"fmt"

	"weir/series/codec/dfcm"
	"weir/series/codec/xor"
)

// Forms that go from each value to the next, of packages of their own: rarely the smallest, but for
// values that repeat bit patterns without being decimal.

func decodeXOR(dst []float64, src []byte) (rest []byte, err error) {
	if rest, err = xor.Decode(dst, src); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return rest, nil
}

func decodeDFCM(dst []float64, src []byte) (rest []byte, err error) {
	if rest, err = dfcm.Decode(dst, src); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return rest, nil
}
