package text

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// notText says why the beginning of a file is no text, or "".
func notText(head []byte) string {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return "it is UTF-16 text: convert it to UTF-8 first"
	}
	head = head[:min(len(head), sampleSize)]
	control := 0
	for i, c := range head {
		if c == 0 {
			return fmt.Sprintf("does not look like a text graph: byte %d is 0", i)
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' || c == 0x7f {
			control++
		}
	}
	if control*20 > len(head) {
		return fmt.Sprintf("does not look like a text graph: %d of its first %d bytes are control characters", control, len(head))
	}
	if cr := bytes.IndexByte(head, '\r'); cr >= 0 && cr < len(head)-1 && bytes.IndexByte(head, '\n') < 0 {
		return "its lines end in a carriage return alone: convert them to line feeds first"
	}
	return ""
}

// bom is the UTF-8 byte order mark.
var bom = []byte("\xef\xbb\xbf")

// recognise is the format of a text, which begins with sample after any byte
// order mark. Only METIS has no mark of its own: the name of the file or its
// shape must give it away.
func recognise(name string, sample []byte, whole bool) Format {
	if len(sample) >= 14 && bytes.EqualFold(sample[:14], []byte("%%MatrixMarket")) {
		return MatrixMarket
	}
	for line := range lines(sample, whole) {
		word, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(word) {
		case "", "c":
			continue
		case "p":
			if bytes.HasPrefix(bytes.TrimSpace(rest), []byte("sp ")) {
				return DIMACS
			}
		}
		break
	}
	if looksMETIS(name, sample, whole) {
		return METIS
	}
	return EdgeList
}

// lines walks the lines of a sample without their ends; an unfinished last
// line counts only where the sample is the whole text.
func lines(sample []byte, whole bool) func(yield func(line []byte) bool) {
	return func(yield func([]byte) bool) {
		for len(sample) > 0 {
			end := bytes.IndexByte(sample, '\n')
			if end < 0 {
				if whole {
					yield(bytes.TrimSuffix(sample, []byte("\r")))
				}
				return
			}
			if !yield(bytes.TrimSuffix(sample[:end], []byte("\r"))) {
				return
			}
			sample = sample[end+1:]
		}
	}
}

// looksMETIS says whether the sample is a METIS file: a header of two to four
// integers, the first of which bounds all that follow, and then rows that have
// not all the same length, as those of an edge list have. The usual suffixes
// count instead of the lengths.
func looksMETIS(name string, sample []byte, whole bool) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst")
	suffix := filepath.Ext(name)
	var header []uint64
	var weighted, ragged bool
	rows, first := 0, -1
	for line := range lines(sample, whole) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (line[0] == '#' || line[0] == '/') {
			return false
		}
		if len(line) > 0 && line[0] == '%' || header == nil && len(line) == 0 {
			continue
		}
		var ids []uint64
		for _, f := range bytes.Fields(line) {
			id, err := parseID(f)
			if err != nil {
				return false
			}
			ids = append(ids, id)
		}
		if header == nil {
			if len(ids) < 2 || len(ids) > 4 || len(ids) > 2 && !metisDigits(ids[2]) {
				return false
			}
			header, weighted = ids, len(ids) > 2 && ids[2] != 0
			continue
		}
		for _, id := range ids {
			if !weighted && (id < 1 || id > header[0]) {
				return false
			}
		}
		if first < 0 {
			first = len(ids)
		}
		ragged = ragged || len(ids) != first
		if rows++; rows == maxSampled {
			break
		}
	}
	if header == nil || uint64(rows) > header[0] {
		// More rows than vertices: blank lines at the end are the only excuse,
		// which only a file that says it is METIS may have.
		return header != nil && (suffix == ".graph" || suffix == ".metis")
	}
	return suffix == ".graph" || suffix == ".metis" || ragged
}

// metisDigits says whether a number is the format in a METIS header: up to three
// digits of 0 or 1.
func metisDigits(format uint64) bool {
	return format <= 111 && format%10 <= 1 && format/10%10 <= 1
}

// maxSampled is how many lines of data decide about the others.
const maxSampled = 500
