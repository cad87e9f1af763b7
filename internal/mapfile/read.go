package mapfile

import (
	"fmt"
	"io"
	"os"
)

// readBytes stands in for a mapping: it reads the file into memory aligned for
// any element.
func readBytes(f *os.File, size int) ([]byte, func() error, error) {
	b := Bytes(make([]uint64, (size+7)/8))[:size:size]
	if n, err := io.ReadFull(f, b); err != nil {
		return nil, nil, fmt.Errorf("read %d of %d bytes: %w", n, size, err)
	}
	return b, func() error { return nil }, nil
}
