package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// labelFlag is the flag --labels: a file with names for vertices, and which of
// its columns hold them.
type labelFlag struct {
	path    string
	columns []int // 0-based: the id, then what makes up its label
}

func (l *labelFlag) Set(s string) error {
	const expected = "expected FILE:IDCOLUMN,LABELCOLUMN such as airports.csv:1,2"
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return errors.New(expected)
	}
	columns := strings.Split(s[i+1:], ",")
	if len(columns) < 2 {
		return errors.New(expected)
	}
	l.path, l.columns = s[:i], nil
	for _, c := range columns {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return fmt.Errorf("column %q: %s", c, expected)
		}
		l.columns = append(l.columns, n-1)
	}
	return nil
}

func (l *labelFlag) String() string {
	if l.path == "" {
		return ""
	}
	columns := make([]string, len(l.columns))
	for i, c := range l.columns {
		columns[i] = strconv.Itoa(c + 1)
	}
	return l.path + ":" + strings.Join(columns, ",")
}

func (l *labelFlag) Type() string { return "file:columns" }

// labels are what ids stand for.
type labels map[string]string

// read reads the file that the flag names; nil if it names none. Columns are
// separated by tabs, semicolons or commas, whichever the first line has; several
// label columns are joined.
func (l *labelFlag) read() (labels, error) {
	if l.path == "" {
		return nil, nil
	}
	file, err := os.Open(l.path)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	defer file.Close()
	text, err := decompress(file)
	if err != nil {
		return nil, fmt.Errorf("read labels %s: %w", l.path, err)
	}
	defer text.Close()
	b := bufio.NewReaderSize(text, 1<<16)
	start, _ := b.Peek(1 << 12) // what is wrong with it shows again when reading
	r := csv.NewReader(b)
	r.Comma = separatorOf(string(start))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	most := 0
	out := labels{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read labels %s: %w", l.path, err)
		}
		most = max(most, len(record))
		var parts []string
		for _, c := range l.columns[1:] {
			if c < len(record) && record[c] != "" && record[c] != `\N` {
				parts = append(parts, strings.TrimSpace(record[c]))
			}
		}
		if id := l.columns[0]; id < len(record) && len(parts) > 0 {
			out[strings.Clone(record[id])] = strings.Join(parts, ", ")
		}
	}
	for _, c := range l.columns {
		if c >= most {
			return nil, fmt.Errorf("read labels %s: no line has a column %d; the longest has %d", l.path, c+1, most)
		}
	}
	return out, nil
}

// separatorOf is the separator that the first line has.
func separatorOf(start string) rune {
	line, _, _ := strings.Cut(start, "\n")
	for _, c := range "\t;" {
		if strings.ContainsRune(line, c) {
			return c
		}
	}
	return ','
}

// decompress reads through gzip or zstd, which it tells by their first bytes.
func decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReader(r)
	switch magic, _ := b.Peek(4); { // a short file is a plain one
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		return gzip.NewReader(b)
	case string(magic) == "\x28\xb5\x2f\xfd":
		d, err := zstd.NewReader(b)
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}
