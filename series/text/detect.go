package text

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Detect is the format of a text by its beginning, which should be at least
// its first line.
func Detect(peek []byte) (Format, error) {
	peek = bytes.TrimPrefix(peek, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(peek, 0) >= 0 {
		return 0, errors.New("read points: this is no text")
	}
	for len(peek) > 0 {
		line, rest, _ := bytes.Cut(peek, lineFeed)
		line = bytes.TrimSuffix(line, []byte{'\r'})
		peek = rest
		switch {
		case len(line) == 0 || line[0] == '#':
			continue
		case line[0] == '+' || line[0] == '*' || line[0] == ':':
			return RESP, nil
		case bytes.HasPrefix(line, []byte("put ")):
			return OpenTSDB, nil
		case looksInflux(line):
			return Influx, nil
		case bytes.ContainsAny(line, ",;\t"):
			return CSV, nil
		}
		return 0, fmt.Errorf("read points: the first line %q is of no known format", clip(line))
	}
	return CSV, nil // of no points
}

// looksInflux reports whether a line is a measurement with tags, fields with
// keys, and perhaps a time.
func looksInflux(line []byte) bool {
	end := until(line, ' ', ' ')
	if end == len(line) || end == 0 || bytes.IndexByte(line, '\t') >= 0 {
		return false
	}
	head, fields := line[:end], line[end+1:]
	for head = head[until(head, ',', ','):]; len(head) > 0; head = head[until(head, ',', ','):] {
		head = head[1:]
		if equals := until(head, '=', ','); equals == len(head) || head[equals] != '=' {
			return false
		}
	}
	fields = fields[:until(fields, ' ', ' ')]
	for more := true; more; {
		if equals := until(fields, '=', ','); equals == len(fields) || fields[equals] != '=' {
			return false
		}
		end := until(fields, ',', '"') // behind a quote all may be
		if more = end < len(fields) && fields[end] == ','; more {
			fields = fields[end+1:]
		}
	}
	return true
}

// sniff chooses the parser by the first line.
func (r *Reader) sniff() error {
	for idle := 0; !r.final && (r.end == 0 || bytes.IndexByte(r.buf[:r.end], '\n') < 0 && r.end < len(r.buf)); {
		n, err := r.in.Read(r.buf[r.end:])
		r.end += n
		switch {
		case err == io.EOF:
			r.final = true
		case err != nil:
			r.final, r.broken = true, fmt.Errorf("read points: %w", err)
			if !r.lastLines() {
				return r.broken
			}
		case n > 0:
			idle = 0
		default:
			if idle++; idle == 100 {
				return fmt.Errorf("read points: %w", io.ErrNoProgress)
			}
		}
	}
	r.fresh = true
	f, err := Detect(r.buf[:r.end])
	if err != nil {
		return err
	}
	return r.choose(f)
}

// Decompress is the text of a stream that may be compressed with gzip, zstd or
// bzip2, and which of them ("" for none). Closing it does not close in.
func Decompress(in io.Reader) (io.ReadCloser, string, error) {
	b := bufio.NewReader(in)
	head, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, "", fmt.Errorf("read points: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, "", fmt.Errorf("read points: gzip: %w", err)
		}
		return z, "gzip", nil
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, "", fmt.Errorf("read points: zstd: %w", err)
		}
		return z.IOReadCloser(), "zstd", nil
	case bytes.HasPrefix(head, []byte("BZh")):
		return io.NopCloser(bzip2.NewReader(b)), "bzip2", nil
	}
	return io.NopCloser(b), "", nil
}
