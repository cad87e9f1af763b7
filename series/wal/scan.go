package wal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/series/disk"
)

const readSize = 1 << 20

// Scan calls fn with the frames of a log that is not open, as Replay would, and changes nothing. Damage goes to damaged,
// and what is good behind it is read. The Recovery says what Replay would cut off.
func Scan(fs disk.FS, dir string, fn func(Frame) error, damaged func(*CorruptError)) (Recovery, error) {
	segments, err := list(fs, dir)
	if err != nil {
		if isMissing(err) {
			err = nil
		}
		return Recovery{}, err
	}
	r := reader{dir: dir, fs: fs, fn: fn, damaged: damaged}
	for i, s := range segments {
		if err := r.scan(s, segments[i+1:]); err != nil {
			return r.Recovery, fmt.Errorf("scan the log in %s: %w", dir, err)
		}
	}
	return r.Recovery, nil
}

func (r *reader) scan(s segment, others []segment) error {
	f, err := r.fs.OpenFile(segmentPath(r.dir, s.number), os.O_RDONLY)
	if err != nil {
		return err
	}
	_, err = r.segment(f, s.number, len(others) == 0)
	return errors.Join(err, f.Close(), r.follows(s, others))
}

// list finds the segments of a directory.
func list(fs disk.FS, dir string) (segments []segment, err error) {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		var n uint32
		if k, _ := fmt.Sscanf(e.Name, "log-%d.wsl", &n); k == 1 && n > 0 && filepath.Base(segmentPath(dir, n)) == e.Name {
			segments = append(segments, segment{n, e.Size})
		}
	}
	slices.SortFunc(segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return segments, nil
}

// reader reads the segments of a log one after the other.
type reader struct {
	Recovery
	dir     string
	fs      disk.FS
	fn      func(Frame) error
	damaged func(*CorruptError) // if it is nil, damage is an error
}

func (r *reader) damage(path string, off int64, err error) error {
	e := &CorruptError{path, off, err}
	if r.damaged == nil {
		return e
	}
	r.damaged(e)
	return nil
}

// follows checks that the segment behind s is the next one.
func (r *reader) follows(s segment, others []segment) error {
	if len(others) == 0 || others[0].number == s.number+1 {
		return nil
	}
	return r.damage(segmentPath(r.dir, s.number+1), 0, errors.New("this segment is missing"))
}

// contents is what there is in a segment.
type contents struct {
	size     int64
	end      int64 // of what counts
	durable  int64 // the offset in the last mark
	headless bool  // the header is damaged
	unborn   bool  // the last segment, to which nothing was written, not even a whole header
}

// segment reads a segment. In the last one, what is bad and not behind a mark is torn: it is where the log ends.
func (r *reader) segment(f disk.File, number uint32, last bool) (c contents, err error) {
	if c.size, err = f.Size(); err != nil {
		return c, err
	}
	header := make([]byte, headerSize)
	n, err := f.ReadAt(header, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return c, err
	}
	if err := checkHeader(header[:n], number); err != nil {
		if last && c.size <= headerSize {
			c.unborn = true
			return c, nil
		}
		c.headless = true
		if err := r.damage(f.Name(), 0, err); err != nil {
			return c, err
		}
	}
	c.end, c.durable = headerSize, headerSize
	for c.end < c.size {
		frames := &frameReader{r: bufio.NewReaderSize(io.NewSectionReader(f, c.end, c.size-c.end), readSize), number: number, off: c.end}
		err := r.frames(frames, &c.durable)
		c.end = frames.off
		if err == nil {
			return c, nil
		}
		if !isDamage(err) {
			return c, err
		}
		damaged := !last
		if last {
			var markErr error
			if damaged, markErr = durableBehind(f, number, c.end, c.size); markErr != nil {
				return c, markErr
			}
		}
		if !damaged {
			r.Path, r.Offset, r.Cut = f.Name(), c.end, c.size-c.end
			return c, nil
		}
		if err := r.damage(f.Name(), c.end, err); err != nil {
			return c, err
		}
		if c.end, err = nextFrame(f, number, c.end+1, c.size); err != nil {
			return c, err
		}
	}
	return c, nil
}

// frames gives frames to fn up to the end, or to the first bad one.
func (r *reader) frames(frames *frameReader, durable *int64) error {
	for {
		kind, stream, payload, err := frames.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if kind == kindMark {
			*durable = int64(binary.LittleEndian.Uint32(payload))
			continue
		}
		if err := r.fn(Frame{frames.number, stream, payload}); err != nil {
			return err
		}
		r.Frames++
	}
}

// nextFrame is where the first good frame from an offset on is; size if there is none.
func nextFrame(f disk.File, number uint32, from, size int64) (int64, error) {
	buf := make([]byte, readSize)
	for from < size {
		n, err := f.ReadAt(buf[:min(readSize, size-from)], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i := 3; i < n; i++ {
			if buf[i] != kindData && buf[i] != kindMark {
				continue
			}
			at := from + int64(i) - 3
			if ok, err := likely(f, buf[i-3:i+1], at, size); err != nil {
				return 0, err
			} else if !ok {
				continue
			}
			r := frameReader{r: bufio.NewReaderSize(io.NewSectionReader(f, at, size-at), 4096), number: number, off: at}
			if _, _, _, err := r.next(); err == nil {
				return at, nil
			} else if !isDamage(err) && !errors.Is(err, io.EOF) {
				return 0, err
			}
		}
		if n < 4 {
			break
		}
		from += int64(n) - 3
	}
	return size, nil
}

// likely reports whether it is worth it to read the frame of a head at a place: it is short, or another one follows it.
// Among random bytes there are many heads of long frames.
func likely(f disk.File, head []byte, at, size int64) (bool, error) {
	n := payloadLength(head)
	end := at + frameSize + int64(n)
	if n > MaxFrame || end > size {
		return false, nil
	}
	if n <= 64<<10 || end == size {
		return true, nil
	}
	var kind [1]byte
	if _, err := f.ReadAt(kind[:], end+3); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return kind[0] == kindData || kind[0] == kindMark, nil
}

// durableBehind says whether a mark behind a bad frame tells that the frame was durable.
func durableBehind(f disk.File, number uint32, bad, size int64) (bool, error) {
	buf := make([]byte, readSize)
	for from := bad; from < size; from += readSize - markSize + 1 {
		n, err := f.ReadAt(buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		for i := 0; ; i++ {
			k := bytes.Index(buf[i:n], []byte(markSign))
			if k < 0 {
				break
			}
			i += k
			r := frameReader{r: bufio.NewReaderSize(bytes.NewReader(buf[i:n]), 16), number: number, off: from + int64(i)}
			if _, _, payload, err := r.next(); err == nil && int64(binary.LittleEndian.Uint32(payload)) > bad {
				return true, nil
			}
		}
	}
	return false, nil
}
