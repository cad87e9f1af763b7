package names

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// sketch is the index of the published engine, to be measured beside the lists
// of package posting: three rows of 1024 cells, each the series of all words
// that fall into it. A search takes what is in all three cells of a word, and
// then has to look at the names.
type sketch struct {
	cells [3][1024]struct {
		last   uint32
		n      int
		deltas []byte
	}
}

func (s *sketch) cell(row int, word []byte) int {
	return int(xxh3.HashSeed(word, uint64(row)) % 1024)
}

func (s *sketch) add(word []byte, id uint32) {
	for row := range s.cells {
		c := &s.cells[row][s.cell(row, word)]
		if c.n > 0 && c.last == id {
			continue
		}
		c.deltas = binary.AppendUvarint(c.deltas, uint64(id-c.last))
		c.last = id
		c.n++
	}
}

func (s *sketch) find(word []byte) []uint32 {
	var found []uint32
	for row := range s.cells {
		c := &s.cells[row][s.cell(row, word)]
		list := make([]uint32, 0, c.n)
		id := uint32(0)
		for rest := c.deltas; len(rest) > 0; {
			delta, n := binary.Uvarint(rest)
			rest = rest[n:]
			id += uint32(delta)
			list = append(list, id)
		}
		if row == 0 {
			found = list
			continue
		}
		i := 0
		found = slices.DeleteFunc(found, func(id uint32) bool {
			for i < len(list) && list[i] < id {
				i++
			}
			return i == len(list) || list[i] != id
		})
	}
	return found
}

func (s *sketch) bytes() (total int) {
	for row := range s.cells {
		for i := range s.cells[row] {
			total += len(s.cells[row][i].deltas) + 48
		}
	}
	return total
}

// sketches has one for metrics and one for tags, as that engine does.
type sketches struct{ metrics, tags sketch }

func (s *sketches) add(name string, id uint32) {
	metric, tags := Split(name)
	s.metrics.add([]byte(metric), id)
	for _, tag := range tags {
		s.tags.add([]byte(tag), id)
	}
}

// TestSketch makes sure that what is measured would work.
func TestSketch(t *testing.T) {
	s := new(sketches)
	for i := range 20000 {
		s.add(string(fleet(nil, i)), uint32(i))
	}
	for _, host := range []int{0, 7, 1999} {
		got := s.tags.find(hostTag(host))
		for i := range 10 {
			if !slices.Contains(got, uint32(host*10+i)) {
				t.Errorf("the sketch does not find series %d of host %d", i, host)
			}
		}
	}
}

func hostTag(host int) []byte {
	name := fleet(nil, host*10)
	_, tags := Split(string(name))
	return []byte(tags[2])
}

// BenchmarkSketch is the size of the sketches of a million names, and the time to find the
// candidates of one host among them; BenchmarkAdd and BenchmarkFind have those of the lists.
func BenchmarkSketch(b *testing.B) {
	for _, kind := range kinds {
		s := new(sketches)
		var buf []byte
		for i := range million {
			buf = kind.make(buf[:0], i)
			s.add(string(buf), uint32(i))
		}
		_, tags := Split(string(kind.make(nil, 47110)))
		b.Run(kind.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = len(s.tags.find([]byte(tags[2])))
			}
			b.ReportMetric(float64(n), "candidates")
			b.ReportMetric(float64(s.metrics.bytes()+s.tags.bytes())/million, "B/name")
		})
	}
}
