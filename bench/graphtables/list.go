package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"weir/graph/generate"
)

// writeList writes a generated graph as an edge list, each edge once. The file
// has its name only once it is complete.
func writeList(ctx context.Context, path string, spec generate.Spec) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return fmt.Errorf("write edge list: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var buf []byte
	err = generate.Generate(ctx, spec, 0, func(edges []uint64, _ []float32) error {
		buf = buf[:0]
		for _, e := range edges {
			buf = strconv.AppendUint(buf, e>>32, 10)
			buf = append(buf, '\t')
			buf = strconv.AppendUint(buf, uint64(uint32(e)), 10)
			buf = append(buf, '\n')
		}
		_, err := w.Write(buf)
		return err
	})
	err = errors.Join(err, w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write edge list %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
