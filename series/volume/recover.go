package volume

import (
	"errors"
	"fmt"
)

// Recovery is what Recover found at the end.
type Recovery struct {
	End    Address // where appending goes on
	Path   string  // of the volume that was cut, and where
	Offset int64
	Cut    int64 // bytes, with those of later volumes
	Reason error // why; nil if nothing was cut
}

// Recover reads the nodes from an address on, as Scan does, and makes ready for appending. All below durable, which is
// what Sync returned at some time, was durable once: what is bad there is damage, which is reported and skipped. From
// durable on, the first bad node is the end of what was being written when the machine stopped: it is cut off there.
//
// If durable is 0, nothing is known. Then everything bad is damage, nothing is cut, and appending goes on in a new
// volume.
func (v *Volumes) Recover(from, durable Address, fn func(at Address, length int, payload []byte) error, damaged func(*CorruptError)) (Recovery, error) {
	v.writing.Lock()
	defer v.writing.Unlock()
	v.mu.Lock()
	state := v.state
	v.mu.Unlock()
	if state != nil && !errors.Is(state, errRecover) {
		return Recovery{}, state
	}
	r := recovery{v: v, durable: durable, fn: fn}
	if fn == nil {
		r.fn = func(Address, int, []byte) error { return nil }
	}
	r.damagedSeen = func(e *CorruptError) {
		r.bad = true
		if damaged != nil {
			damaged(e)
		}
	}
	if err := r.run(from); err != nil {
		return Recovery{}, fmt.Errorf("recover volumes in %s: %w", v.dir, err)
	}
	v.durable = durable
	v.setEnd(r.End)
	v.mu.Lock()
	v.state = nil
	v.mu.Unlock()
	return r.Recovery, nil
}

type recovery struct {
	Recovery
	v           *Volumes
	durable     Address
	fn          func(at Address, length int, payload []byte) error
	damagedSeen func(*CorruptError)
	bad         bool
}

func (r *recovery) run(from Address) error {
	files := *r.v.files.Load()
	r.End = address(1, headerSize)
	if len(files) > 0 {
		r.End = address(files[len(files)-1].number, headerSize)
	}
	first, _ := split(from)
	for i, f := range files {
		if f.damage != nil {
			r.damagedSeen(f.damage)
		}
		if f.page != nil {
			if _, err := f.WriteAt(f.page, 0); err != nil {
				return err
			}
			if err := f.File.Sync(); err != nil {
				return err
			}
			f.page = nil
		}
		if f.number < first {
			continue
		}
		off := int64(headerSize)
		if n, o := split(from); n == f.number && o > off {
			off = o
		}
		end, reason, err := r.file(f, off)
		if err != nil {
			return err
		}
		r.End = address(f.number, max(end, headerSize))
		if reason == nil && i+1 < len(files) && r.durable != 0 {
			// It may end with a whole node, and be shorter than it was: its size was not durable. Then it is torn here.
			if n, o := split(files[i+1].previous); n == f.number && end < o && address(n, end) >= r.durable {
				reason = errShort
			}
		}
		if reason != nil {
			if err := r.cut(f, end, reason, files[i+1:]); err != nil {
				return err
			}
			break
		}
		if i+1 < len(files) {
			cutShort(f, files[i+1], r.damagedSeen)
		}
	}
	last, off := split(r.durable)
	switch number, end := split(r.End); {
	case r.End < r.durable:
		// Addresses below it may be known elsewhere, and must not mean anything else.
		e := &CorruptError{fileName(r.v.dir, last), 0, off, errors.New("the file is missing")}
		if number == last {
			e.Offset, e.Length, e.Err = end, off-end, errors.New("the file is cut short")
		}
		r.damagedSeen(e)
		r.End = address(last+1, headerSize)
	case r.durable == 0 && r.bad:
		r.End = address(number+1, headerSize)
	}
	return r.touch()
}

// file reads a volume. It returns where it ends, and why there, if it is to be cut.
func (r *recovery) file(f *file, off int64) (end int64, reason error, err error) {
	w := &window{f: f, limit: f.used.Load()}
	number, known := split(r.durable)
	for off < w.limit {
		payload, err := w.frame(off)
		if err == nil {
			at := address(f.number, off)
			off += int64(frameSize + len(payload))
			if err := r.fn(at, frameSize+len(payload), payload); err != nil {
				return 0, nil, err
			}
			continue
		}
		if r.durable != 0 && address(f.number, off) >= r.durable {
			return off, err, nil
		}
		// At durable begins a node, if there is one behind it.
		stop := w.limit
		if r.durable != 0 && number == f.number {
			stop = min(stop, known)
		}
		next, e := w.next(off+1, stop)
		if e != nil {
			return 0, nil, e
		}
		r.damagedSeen(&CorruptError{f.Name(), off, next - off, err})
		off = next
	}
	return off, nil, nil
}

// cut makes a volume end at an offset, and removes those behind it, durably: behind new nodes, old ones must not come
// back.
func (r *recovery) cut(f *file, end int64, reason error, later []*file) error {
	r.Path, r.Offset, r.Reason = f.Name(), end, reason
	r.Cut = f.used.Load() - end
	for i := len(later) - 1; i >= 0; i-- {
		r.Cut += later[i].used.Load()
		if err := r.v.remove(later[i]); err != nil {
			return err
		}
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	f.used.Store(end)
	if r.v.o.Count > 0 {
		if err := f.Allocate(0, f.size); err != nil {
			return err
		}
	}
	return f.Sync()
}

// touch writes what may not be durable once more, as it is. If the program that wrote it could not sync it, the system
// may take it for written, and only what is written again is synced again.
func (r *recovery) touch() error {
	number, known := split(r.durable)
	if r.durable == 0 {
		number, _ = split(r.End) // for all of a large store, it would take too long
	}
	var buf []byte
	for _, f := range *r.v.files.Load() {
		if f.number < number {
			continue
		}
		off := int64(0)
		if f.number == number {
			off = known
		}
		for used := f.used.Load(); off < used; off += int64(len(buf)) {
			if buf == nil {
				buf = make([]byte, windowSize)
			}
			buf = buf[:min(windowSize, used-off)]
			if n, err := f.ReadAt(buf, off); n < len(buf) {
				if r.durable == 0 {
					break // a bad sector in what was never to be written again
				}
				return err
			}
			if _, err := f.WriteAt(buf, off); err != nil {
				return err
			}
			f.dirty = true
		}
	}
	return nil
}
