package store

import "fmt"

// Region is a consecutive part of a graph file.
type Region struct {
	Offset, Length int64
	What           string // "header", a section's name, "... checksums" or "padding"
	Detail         string // what a reader wants to know about it
}

// Layout lists every part of the file in the order of its bytes, without gaps.
func (f *File) Layout() []Region {
	var regions []Region
	var at int64
	for _, p := range extents(f.sections) {
		if p.start > at {
			regions = append(regions, Region{at, p.start - at, "padding", "zero"})
		}
		r := Region{Offset: p.start, Length: p.end - p.start, What: p.what}
		switch s := p.section; {
		case s == nil:
			r.Detail = fmt.Sprintf("format %d, %d sections", Version, len(f.sections))
		case p.sums:
			r.Detail = fmt.Sprintf("%d × xxh3-64, one for each block of %d bytes", s.blocks(), s.block)
		default:
			r.Detail = fmt.Sprintf("%d × %d B", s.elements(), s.width)
		}
		regions = append(regions, r)
		at = p.end
	}
	if size := int64(len(f.data)); size > at {
		regions = append(regions, Region{at, size - at, "padding", "zero"})
	}
	return regions
}
