package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Read returns the node at an address, in the memory of dst where there is room for its length bytes. The error is
// ErrGone if its volume was dropped, and a *CorruptError if it is damaged or never was there.
func (v *Volumes) Read(dst []byte, at Address, length int) (payload []byte, err error) {
	number, off := split(at)
	corrupt := func(err error) error {
		return &CorruptError{fileName(v.dir, number), off, int64(length), err}
	}
	if length <= frameSize || length > frameSize+MaxNode || off < headerSize || at+uint64(length) > v.end.Load() {
		return nil, corrupt(errFrame)
	}
	if cap(dst) < length {
		dst = make([]byte, length)
	}
	dst = dst[:length]
	v.reads.Add(1)
	v.readBytes.Add(uint64(length))
	if at >= v.flushed.Load() && v.readBlock(dst, at) {
		if payload, err = parseFrame(dst, at); err != nil {
			return nil, corrupt(err)
		}
		return payload, nil
	}
	f := v.find(number)
	if f == nil {
		return nil, fmt.Errorf("read %s: %w", fileName(v.dir, number), ErrGone)
	}
	if n, err := f.ReadAt(dst, off); n < length {
		switch {
		case errors.Is(err, fs.ErrClosed) && v.find(number) != f:
			err = fmt.Errorf("read %s: %w", f.Name(), ErrGone)
		case errors.Is(err, fs.ErrClosed):
			err = fmt.Errorf("read %s: %w", f.Name(), ErrClosed)
		case errors.Is(err, io.EOF):
			err = corrupt(errShort)
		default:
			err = corrupt(err)
		}
		return nil, err
	}
	if payload, err = parseFrame(dst, at); err != nil {
		return nil, corrupt(err)
	}
	return payload, nil
}

// readBlock copies what is not in a file yet. If meanwhile it is, it says no.
func (v *Volumes) readBlock(dst []byte, at Address) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range v.blocks {
		if at >= b.at && at < b.at+uint64(len(b.data)) {
			return copy(dst, b.data[at-b.at:]) == len(dst)
		}
	}
	return false
}

// Scan calls fn with the nodes from an address on, which is 0 or that of a node, in order, and returns where it ended.
// The payload is valid until fn returns. Damage goes to damaged, if it is not nil, and Scan goes on at the next good
// node. What is appended meanwhile is not seen. An error of fn ends the scan.
func (v *Volumes) Scan(from Address, fn func(at Address, length int, payload []byte) error, damaged func(*CorruptError)) (end Address, err error) {
	v.mu.Lock()
	state := v.state
	v.mu.Unlock()
	if state == nil {
		if err := v.Flush(); err != nil {
			return from, err
		}
	}
	if damaged == nil {
		damaged = func(*CorruptError) {}
	}
	if fn == nil {
		fn = func(Address, int, []byte) error { return nil }
	}
	end = from
	files := *v.files.Load()
	for i, f := range files {
		number, off := split(from)
		if f.number < number {
			continue
		}
		if f.number > number || off < headerSize {
			off = headerSize
		}
		if f.damage != nil {
			damaged(f.damage)
		}
		w := &window{f: f, limit: f.used.Load()}
		for off < w.limit {
			payload, err := w.frame(off)
			if err == nil {
				at := address(f.number, off)
				off += int64(frameSize + len(payload))
				if err := fn(at, frameSize+len(payload), payload); err != nil {
					return address(f.number, off), err
				}
				continue
			}
			if errors.Is(err, fs.ErrClosed) {
				break
			}
			next, e := w.next(off+1, w.limit)
			if e != nil {
				break
			}
			damaged(&CorruptError{f.Name(), off, next - off, err})
			off = next
		}
		end = address(f.number, max(off, headerSize))
		if i+1 < len(files) {
			cutShort(f, files[i+1], damaged)
		}
	}
	return end, nil
}

// cutShort reports a volume that has fewer bytes than when the next one was made.
func cutShort(f, next *file, damaged func(*CorruptError)) {
	number, off := split(next.previous)
	if used := f.used.Load(); number == f.number && used < off {
		damaged(&CorruptError{f.Name(), used, off - used, errors.New("the file is cut short")})
	}
}

const windowSize = 1 << 20

// window reads a volume from the front to the back in large pieces.
type window struct {
	f     *file
	limit int64 // of what is read
	buf   []byte
	at    int64 // of buf
	err   error // of the last place that could not be read, which is zeros in buf
}

// get returns n bytes from an offset on, fewer only at the limit. They are valid until the next call.
func (w *window) get(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.limit-off))
	if off < w.at || off+int64(n) > w.at+int64(len(w.buf)) {
		if w.buf == nil {
			w.buf = make([]byte, windowSize)
		}
		w.at, w.buf = off, w.buf[:min(windowSize, w.limit-off)]
		w.err = nil
		if k, err := w.f.ReadAt(w.buf, off); k < len(w.buf) {
			switch {
			case errors.Is(err, fs.ErrClosed):
				w.buf = w.buf[:0]
				return nil, err
			case errors.Is(err, io.EOF):
				clear(w.buf[k:])
			default:
				w.pages()
			}
		}
	}
	return w.buf[off-w.at:][:n], nil
}

// pages reads buf in pieces, so that a bad sector hides no more than it must.
func (w *window) pages() {
	for i := 0; i < len(w.buf); {
		p := w.buf[i:min(len(w.buf), i+4096-int((w.at+int64(i))%4096))]
		if k, err := w.f.ReadAt(p, w.at+int64(i)); k < len(p) {
			w.err = err
			clear(p[k:])
		}
		i += len(p)
	}
}

// frame returns the payload of the node at an offset, or why there is none.
func (w *window) frame(off int64) ([]byte, error) {
	b, err := w.get(off, frameSize)
	if err != nil {
		return nil, err
	}
	if len(b) < frameSize {
		return nil, errShort
	}
	n, err := frameLength(b)
	if err == nil {
		if b, err = w.get(off, n); err == nil {
			if len(b) < n {
				return nil, errShort
			}
			b, err = parseFrame(b, address(w.f.number, off))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrClosed) && w.err != nil {
		err = fmt.Errorf("%w (%w)", err, w.err)
	}
	return b, err
}

// next finds the first good node from an offset on, below end; end if there is none.
func (w *window) next(off, end int64) (int64, error) {
	for off < end {
		b, err := w.get(off, int(min(64<<10, w.limit-off)))
		if err != nil {
			return 0, err
		}
		// The mark is the fourth byte of a frame.
		i := -1
		if len(b) > 3 {
			i = bytes.IndexByte(b[3:], frameMark)
		}
		if i < 0 {
			off += int64(max(len(b)-3, 1))
			continue
		}
		off += int64(i)
		if off >= end {
			break
		}
		if _, err := w.frame(off); err == nil {
			return off, nil
		}
		off++
	}
	return end, nil
}
