package codec

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"weir/internal/sharedata"
)

// numbers reads a number a line, and passes over other lines.
func numbers(t *testing.T, r io.Reader) []float64 {
	t.Helper()
	var vs []float64
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if v, err := strconv.ParseFloat(lines.Text(), 64); err == nil {
			vs = append(vs, v)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return vs
}

// host reads the figures of a machine.
func host(t *testing.T, r io.Reader) (all [][]float64) {
	t.Helper()
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if head.Typeflag == tar.TypeReg {
			all = append(all, numbers(t, archive))
		}
	}
}

// TestRecorded holds bits a value of recorded series against what was reached.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		file        string
		bits, dense float64 // a value, at most
	}{
		{"elf/Stocks-USA.csv", 5.8, 4.8}, {"elf/City-temp.csv", 7.5, 6.8}, {"elf/Air-pressure.csv", 11.2, 10.2}, {"elf/IR-bio-temp.csv", 4.6, 3.7},
		{"elf/Bird-migration.csv", 16.6, 14.6}, {"elf/Basel-wind.csv", 28.5, 28}, {"host.tar.gz", 9.4, 8.5},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			file, err := os.Open(sharedata.Path(t, "series/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var all [][]float64
			if c.file == "host.tar.gz" {
				all = host(t, file)
			} else {
				all = [][]float64{numbers(t, file)}
			}
			for _, dense := range []bool{false, true} {
				size, n := 0, 0
				for _, vs := range all {
					hint := Hint{Dense: dense}
					for v := range slices.Chunk(vs, Max) {
						size += len(check(t, &hint, v))
						n += len(v)
					}
				}
				limit := c.bits
				if dense {
					limit = c.dense
				}
				if bits := float64(size) * 8 / float64(n); bits > limit {
					t.Errorf("%.2f bits a value (dense: %v), expected at most %v", bits, dense, limit)
				}
			}
		})
	}
}
