package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// The header is the first page of the file; docs/formats.md has it as a table.
const (
	// magic breaks when a transfer strips the high bit, translates line ends or
	// stops at a control-Z, as PNG's does.
	magic = "\x89weir\r\n\x1a"

	pageSize    = 4096    // of the header, and the alignment of sections
	blockSize   = 1 << 20 // bytes that share a checksum, unless a section says otherwise
	idWidth     = 4       // bytes of a vertex id
	maxEdges    = 1 << 56 // keeps every product with an element's width within int64
	maxSections = 47

	atVersion    = 8
	atHeaderSize = 12
	atFileSize   = 16
	atVertices   = 24
	atEdges      = 32
	atSelfLoops  = 40
	atDuplicates = 48
	atFlags      = 56
	atIDWidth    = 60
	atSections   = 64
	atSource     = 256
	atTool       = 640
	endTool      = 768
	atTable      = 1024
	endTable     = atTable + maxSections*entrySize
	atChecksum   = pageSize - 8

	entrySize = 64
)

const (
	flagUndirected = 1 << iota
	flagWeighted
	flagIntegerWeights
	flagSorted
)

var le = binary.LittleEndian

// section is an entry of the section table.
type section struct {
	kind   Kind
	width  int    // bytes of an element
	offset int64  // of the data in the file, a multiple of pageSize
	length int64  // bytes of data
	block  int64  // bytes that share a checksum: a power of two
	sumsAt int64  // offset of the table of checksums, a multiple of 8
	sumSum uint64 // checksum of that table
}

func (s *section) elements() uint64 { return uint64(s.length) / uint64(s.width) }
func (s *section) blocks() int      { return int((s.length + s.block - 1) / s.block) }
func (s *section) sumsEnd() int64   { return s.sumsAt + 8*int64(s.blocks()) }

// encodeHeader lays out the header page.
func encodeHeader(m *Meta, sections []*section, fileSize int64) []byte {
	h := make([]byte, pageSize)
	copy(h, magic)
	le.PutUint32(h[atVersion:], Version)
	le.PutUint32(h[atHeaderSize:], pageSize)
	le.PutUint64(h[atFileSize:], uint64(fileSize))
	le.PutUint64(h[atVertices:], uint64(m.Vertices))
	le.PutUint64(h[atEdges:], uint64(m.Edges))
	le.PutUint64(h[atSelfLoops:], uint64(m.SelfLoops))
	le.PutUint64(h[atDuplicates:], uint64(m.Duplicates))
	var flags uint32
	for bit, on := range map[uint32]bool{
		flagUndirected: m.Undirected, flagWeighted: m.Weighted, flagIntegerWeights: m.IntegerWeights, flagSorted: m.Sorted,
	} {
		if on {
			flags |= bit
		}
	}
	le.PutUint32(h[atFlags:], flags)
	le.PutUint32(h[atIDWidth:], idWidth)
	le.PutUint32(h[atSections:], uint32(len(sections)))
	putText(h[atSource:atTool], m.Source)
	putText(h[atTool:endTool], m.Tool)
	for i, s := range sections {
		e := h[atTable+i*entrySize:]
		le.PutUint32(e[0:], uint32(s.kind))
		le.PutUint32(e[4:], uint32(s.width))
		le.PutUint64(e[8:], uint64(s.offset))
		le.PutUint64(e[16:], uint64(s.length))
		le.PutUint32(e[24:], uint32(s.block))
		le.PutUint64(e[32:], uint64(s.sumsAt))
		le.PutUint64(e[40:], s.sumSum)
	}
	le.PutUint64(h[atChecksum:], xxh3.Hash(h[:atChecksum]))
	return h
}

// putText stores text behind its length in two bytes, cut at a character's edge.
func putText(field []byte, text string) {
	text = printable(text)
	for n := len(field) - 2; len(text) > n; {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	le.PutUint16(field, uint16(len(text)))
	copy(field[2:], text)
}

func getText(field []byte) string {
	n := min(int(le.Uint16(field)), len(field)-2)
	return printable(string(field[2 : 2+n]))
}

// printable replaces what a terminal might take for a command.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// decodeHeader reads and checks the header of a file of which data is all.
func decodeHeader(data []byte) (*Meta, []*section, error) {
	if !Is(data) {
		switch {
		case len(data) == 0:
			return nil, nil, fmt.Errorf("%w: the file is empty", ErrNotGraph)
		case strings.HasPrefix(magic, string(data[:min(len(data), len(magic))])):
			return nil, nil, fmt.Errorf("truncated: the file ends after %d bytes, inside the header of %d", len(data), pageSize)
		}
		return nil, nil, fmt.Errorf("%w: it begins with %q; expected %q", ErrNotGraph, data[:min(len(data), len(magic))], magic)
	}
	if len(data) < pageSize {
		return nil, nil, fmt.Errorf("truncated: the file ends after %d bytes, inside the header of %d", len(data), pageSize)
	}
	h := data[:pageSize]
	// Every version, also those to come, has this checksum in this place.
	if got, want := xxh3.Hash(h[:atChecksum]), le.Uint64(h[atChecksum:]); got != want {
		return nil, nil, fmt.Errorf("the header (bytes 0 to %d) is damaged: its checksum is %#016x; expected %#016x", pageSize-1, got, want)
	}
	if v := le.Uint32(h[atVersion:]); v > Version {
		return nil, nil, fmt.Errorf("%w (format %d; this one reads up to %d)", ErrNewer, v, Version)
	} else if v == 0 {
		return nil, nil, fmt.Errorf("format version 0; expected 1 to %d", Version)
	}
	if n := le.Uint32(h[atHeaderSize:]); n != pageSize {
		return nil, nil, fmt.Errorf("a header of %d bytes; expected %d", n, pageSize)
	}
	switch size := le.Uint64(h[atFileSize:]); {
	case size > uint64(len(data)):
		return nil, nil, fmt.Errorf("truncated: the file has %d of its %d bytes", len(data), size)
	case size < uint64(len(data)):
		return nil, nil, fmt.Errorf("the file has %d bytes; expected %d: something was appended", len(data), size)
	}
	if n := le.Uint32(h[atIDWidth:]); n != idWidth {
		return nil, nil, fmt.Errorf("vertex ids of %d bytes; this weir reads graphs whose ids have %d (up to 4294967295 vertices)", n, idWidth)
	}
	m := &Meta{
		Vertices: int64(le.Uint64(h[atVertices:])), Edges: int64(le.Uint64(h[atEdges:])),
		SelfLoops: int64(le.Uint64(h[atSelfLoops:])), Duplicates: int64(le.Uint64(h[atDuplicates:])),
		Source: getText(h[atSource:atTool]), Tool: getText(h[atTool:endTool]),
	}
	for name, n := range map[string]int64{"self-loops": m.SelfLoops, "duplicates": m.Duplicates} {
		if n < Unknown || n > max(m.Edges, 0) {
			return nil, nil, fmt.Errorf("%d %s among %d edges", n, name, m.Edges)
		}
	}
	flags := le.Uint32(h[atFlags:])
	m.Undirected, m.Weighted = flags&flagUndirected != 0, flags&flagWeighted != 0
	m.IntegerWeights, m.Sorted = flags&flagIntegerWeights != 0, flags&flagSorted != 0
	if unknown := flags &^ (flagUndirected | flagWeighted | flagIntegerWeights | flagSorted); unknown != 0 {
		return nil, nil, fmt.Errorf("unknown flags %#x", unknown)
	}
	sections, err := decodeTable(h, int64(len(data)))
	return m, sections, err
}

// decodeTable reads the section table and checks that the sections lie apart
// from one another inside a file of the given size.
func decodeTable(h []byte, fileSize int64) ([]*section, error) {
	count := le.Uint32(h[atSections:])
	if count > maxSections {
		return nil, fmt.Errorf("%d sections; expected at most %d", count, maxSections)
	}
	sections := make([]*section, count)
	for i := range sections {
		e := h[atTable+i*entrySize:]
		kind, width, block := Kind(le.Uint32(e[0:])), le.Uint32(e[4:]), le.Uint32(e[24:])
		offset, length, sums := le.Uint64(e[8:]), le.Uint64(e[16:]), le.Uint64(e[32:])
		if d, known := kinds[kind]; known && int(width) != d.width {
			return nil, fmt.Errorf("section %s has elements of %d bytes; expected %d", kind, width, d.width)
		}
		if width == 0 || length%uint64(width) != 0 {
			return nil, fmt.Errorf("section %s has %d bytes: not a whole number of elements of %d", kind, length, width)
		}
		if bits.OnesCount32(block) != 1 || block < pageSize || block > 1<<30 {
			return nil, fmt.Errorf("section %s has checksum blocks of %d bytes; expected a power of two from %d to %d", kind, block, pageSize, 1<<30)
		}
		size := uint64(fileSize)
		if offset%pageSize != 0 || offset < pageSize || offset > size || length > size-offset {
			return nil, fmt.Errorf("section %s lies at bytes %d + %d of %d; expected a multiple of %d inside the file", kind, offset, length, size, pageSize)
		}
		s := &section{kind, int(width), int64(offset), int64(length), int64(block), int64(sums), le.Uint64(e[40:])}
		if sums%8 != 0 || sums < pageSize || sums > size || uint64(s.blocks())*8 > size-sums {
			return nil, fmt.Errorf("the checksums of section %s lie at bytes %d + %d of %d; expected a multiple of 8 inside the file", kind, sums, s.blocks()*8, size)
		}
		if slices.ContainsFunc(sections[:i], func(o *section) bool { return o.kind == kind }) {
			return nil, fmt.Errorf("section %s is there twice", kind)
		}
		sections[i] = s
	}
	parts := extents(sections)
	for i := 1; i < len(parts); i++ {
		if a, b := parts[i-1], parts[i]; a.end > b.start {
			return nil, fmt.Errorf("%s (bytes %d to %d) and %s (from byte %d) overlap", a.what, a.start, a.end-1, b.what, b.start)
		}
	}
	return sections, nil
}

// extent is a used part of the file: what lies between two is padding.
type extent struct {
	start, end int64
	what       string
	section    *section // nil for the header
	sums       bool     // its checksums, not its data
}

// extents lists the header and the sections' data and checksums by offset.
func extents(sections []*section) []extent {
	parts := []extent{{0, pageSize, "header", nil, false}}
	for _, s := range sections {
		parts = append(parts,
			extent{s.offset, s.offset + s.length, s.kind.String(), s, false},
			extent{s.sumsAt, s.sumsEnd(), s.kind.String() + " checksums", s, true})
	}
	slices.SortStableFunc(parts, func(a, b extent) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return parts
}
