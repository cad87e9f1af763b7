package names

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// The file is described in docs/formats-series.md.
const (
	magic        = "\x89wsnm\r\n\x1a"
	version      = 1
	headerSize   = 32
	recordHeader = 40
	maxBody      = 64 << 20

	entriesRecord = 1
	markRecord    = 2 // no body: says how far the file is durable
)

// A CorruptError says where a file of names is damaged. Everything before
// Offset was good.
type CorruptError struct {
	Path   string
	Offset int64
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s, byte %d: %v", e.Path, e.Offset, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

func fileHeader(generation uint64) []byte {
	h := append(make([]byte, 0, headerSize), magic...)
	h = binary.LittleEndian.AppendUint32(h, version)
	h = binary.LittleEndian.AppendUint32(h, 0)
	h = binary.LittleEndian.AppendUint64(h, generation)
	return binary.LittleEndian.AppendUint64(h, xxh3.Hash(h))
}

func checkHeader(h []byte, generation uint64) error {
	if string(h[:8]) != magic {
		return fmt.Errorf("begins with %q, not with %q: this is no file of names", h[:8], magic)
	}
	if xxh3.Hash(h[:24]) != binary.LittleEndian.Uint64(h[24:]) {
		return errors.New("the checksum of the file's header is wrong")
	}
	if v := binary.LittleEndian.Uint32(h[8:]); v != version {
		return fmt.Errorf("has version %d; this program reads version %d", v, version)
	}
	if g := binary.LittleEndian.Uint64(h[16:]); g != generation {
		return fmt.Errorf("has generation %d inside, but %d in its name", g, generation)
	}
	return nil
}

// record is the header of a record, which is what its body follows.
type record struct {
	kind   uint32
	length uint32
	number uint64
	synced uint64 // bytes of the file that were durable when the record was written
	sum    uint64 // of the header; seeds the body's
	body   uint64
}

func appendRecord(dst []byte, generation uint64, r record, body []byte) []byte {
	from := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, r.kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = binary.LittleEndian.AppendUint64(dst, r.number)
	dst = binary.LittleEndian.AppendUint64(dst, r.synced)
	sum := xxh3.HashSeed(dst[from:], generation)
	dst = binary.LittleEndian.AppendUint64(dst, sum)
	dst = binary.LittleEndian.AppendUint64(dst, xxh3.HashSeed(body, sum))
	return append(dst, body...)
}

// parseRecord reads a record's header; ok is false where there is none.
func parseRecord(h []byte, generation uint64) (r record, ok bool) {
	sum := binary.LittleEndian.Uint64(h[24:])
	if xxh3.HashSeed(h[:24], generation) != sum {
		return record{}, false
	}
	return record{
		kind:   binary.LittleEndian.Uint32(h),
		length: binary.LittleEndian.Uint32(h[4:]),
		number: binary.LittleEndian.Uint64(h[8:]),
		synced: binary.LittleEndian.Uint64(h[16:]),
		sum:    sum,
		body:   binary.LittleEndian.Uint64(h[32:]),
	}, true
}

// contents is what a file of names says when read to its end.
type contents struct {
	end     int64  // behind the last good record
	records uint64 // good ones
	durable int64  // up to where a record says that it was durable
	size    int64  // of the file: above end where a tail is torn
	reason  error  // why the tail is not good
}

// readFile applies the records of a file to ix. A tail that was never durable
// and is not whole is left out; any other damage is a *CorruptError.
func readFile(ctx context.Context, path string, f io.ReaderAt, size int64, generation uint64, ix *Index) (contents, error) {
	c := contents{end: headerSize, size: size}
	header := make([]byte, headerSize)
	if size < headerSize {
		return c, &CorruptError{path, 0, fmt.Errorf("the file has %d bytes, fewer than its header", size)}
	}
	if err := readAt(f, header, 0); err != nil {
		return c, fmt.Errorf("read names %s: %w", path, err)
	}
	if err := checkHeader(header, generation); err != nil {
		return c, &CorruptError{path, 0, err}
	}
	var body []byte
	head := make([]byte, recordHeader)
	for c.end < size {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		var r record
		reason := errors.New("a record that is cut short")
		if size-c.end >= recordHeader {
			if err := readAt(f, head, c.end); err != nil {
				return c, fmt.Errorf("read names %s at byte %d: %w", path, c.end, err)
			}
			ok := false
			if r, ok = parseRecord(head, generation); !ok {
				reason = errors.New("the checksum of a record's header is wrong")
			} else if int64(r.length) <= size-c.end-recordHeader && r.length <= maxBody {
				if body = body[:0]; uint32(cap(body)) < r.length {
					body = make([]byte, 0, r.length+r.length/4)
				}
				body = body[:r.length]
				if err := readAt(f, body, c.end+recordHeader); err != nil {
					return c, fmt.Errorf("read names %s at byte %d: %w", path, c.end, err)
				}
				if reason = nil; xxh3.HashSeed(body, r.sum) != r.body {
					reason = errors.New("the checksum of a record is wrong")
				}
			}
		}
		if reason != nil {
			c.reason = reason
			return c, c.judge(path, f, generation)
		}
		if err := applyRecord(ix, r, c.records, body); err != nil {
			at := c.end
			if e := (*entryError)(nil); errors.As(err, &e) {
				at += recordHeader + int64(e.at)
			}
			return c, &CorruptError{path, at, err}
		}
		c.durable = max(c.durable, min(int64(r.synced), c.end))
		c.end += recordHeader + int64(r.length)
		c.records++
	}
	return c, nil
}

// readAt fills p. A reader may report the end of a file that it has read whole.
func readAt(f io.ReaderAt, p []byte, at int64) error {
	if n, err := f.ReadAt(p, at); n < len(p) {
		return err
	}
	return nil
}

func applyRecord(ix *Index, r record, number uint64, body []byte) error {
	switch {
	case r.number != number:
		return fmt.Errorf("record %d where record %d was expected", r.number, number)
	case r.kind == entriesRecord:
		return ix.apply(body)
	case r.kind == markRecord && r.length == 0:
		return nil
	}
	return fmt.Errorf("a record of unknown kind %d and %d bytes", r.kind, r.length)
}

// judge decides whether what is not good at c.end is a torn tail, or damage to
// what was durable once: then a later record says so.
func (c *contents) judge(path string, f io.ReaderAt, generation uint64) error {
	const step = 1 << 20
	window := make([]byte, min(step+recordHeader, c.size-c.end))
	for at := c.end + 1; at+recordHeader <= c.size; at += step {
		n := int(min(int64(len(window)), c.size-at))
		if err := readAt(f, window[:n], at); err != nil {
			return fmt.Errorf("read names %s at byte %d: %w", path, at, err)
		}
		for i := 0; i+recordHeader <= n && i < step; i++ {
			if window[i] != entriesRecord && window[i] != markRecord {
				continue
			}
			if r, ok := parseRecord(window[i:], generation); ok && r.synced > uint64(c.end) {
				return &CorruptError{path, c.end, fmt.Errorf("%w, and more that was stored follows at byte %d", c.reason, at+int64(i))}
			}
		}
	}
	return nil
}
