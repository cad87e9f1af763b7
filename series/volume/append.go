package volume

import (
	"errors"
	"fmt"
	"io/fs"

	"weir/series/disk"
)

// Append adds a node of 1 to MaxNode bytes, and returns its address and how many bytes it takes there, which Read wants
// to know. The payload is copied. It may be read at once; it is in a file after Flush, and durable after Sync.
//
// Where the disk is full, the error is ErrFull. After any error the node was not accepted, those before it were, and a
// later call tries again.
func (v *Volumes) Append(payload []byte) (at Address, length int, err error) {
	if len(payload) == 0 || len(payload) > MaxNode {
		return 0, 0, fmt.Errorf("a node of %d bytes; expected 1 to %d", len(payload), MaxNode)
	}
	if v.low.Load() {
		if err := v.checkRoom(0); err != nil {
			return 0, 0, err
		}
	}
	length = frameSize + len(payload)
	v.mu.Lock()
	for {
		if err := v.state; err != nil {
			v.mu.Unlock()
			return 0, 0, err
		}
		at, closed, ok := v.put(payload)
		v.mu.Unlock()
		if ok {
			v.appends.Add(1)
			v.appendBytes.Add(uint64(length))
		}
		if closed || !ok {
			// If the node is in memory, a failure is for those to tell who find no room.
			if err := v.write(true); err != nil && !ok {
				return 0, 0, err
			}
		}
		if ok {
			return at, length, nil
		}
		v.mu.Lock()
	}
}

// put copies a node to the open block, or to another one if there is a spare one. It says whether a block was closed.
func (v *Volumes) put(payload []byte) (at Address, closed, ok bool) {
	at, need := v.end.Load(), frameSize+len(payload)
	number, off := split(at)
	if off+int64(need) > v.o.Size {
		at = address(number+1, headerSize)
	}
	var b *block
	if n := len(v.blocks); n > 0 && !v.blocks[n-1].closed {
		b = v.blocks[n-1]
		if b.at+uint64(len(b.data)) != at || len(b.data)+need > v.o.Buffer {
			b.closed, closed, b = true, true, nil
		}
	}
	if b == nil {
		n := len(v.spare)
		if n == 0 {
			return 0, closed, false
		}
		b, v.spare = v.spare[n-1], v.spare[:n-1]
		if b.data == nil {
			b.data = make([]byte, 0, v.o.Buffer)
		}
		b.at, b.data, b.closed = at, b.data[:0], false
		v.blocks = append(v.blocks, b)
	}
	b.data = appendFrame(b.data, at, payload)
	v.end.Store(at + uint64(need))
	return at, closed, true
}

// checkRoom returns ErrFull if with n bytes more there would be less free than the reserve.
func (v *Volumes) checkRoom(n int64) error {
	if v.o.Reserve == 0 || v.o.Count > 0 {
		return nil // a ring has its room already
	}
	free, err := v.fs.Free(v.dir)
	if err != nil {
		return err
	}
	if free-n < v.o.Reserve {
		v.low.Store(true)
		return fmt.Errorf("write volumes in %s: %w but for the reserve: %d bytes are free, and %d are to remain", v.dir, ErrFull, free, v.o.Reserve)
	}
	v.low.Store(false)
	return nil
}

// write writes the blocks that are closed. What cannot be written stays.
func (v *Volumes) write(reserve bool) error {
	v.writing.Lock()
	defer v.writing.Unlock()
	return v.writeBlocks(reserve)
}

func (v *Volumes) writeBlocks(reserve bool) error {
	for {
		v.mu.Lock()
		state := v.state
		var b *block
		if len(v.blocks) > 0 && v.blocks[0].closed {
			b = v.blocks[0]
		}
		v.mu.Unlock()
		if state != nil {
			return state
		}
		if b == nil {
			return nil
		}
		if reserve {
			if err := v.checkRoom(int64(len(b.data))); err != nil {
				return err
			}
		}
		if err := v.writeBlock(b); err != nil {
			if disk.IsFull(err) {
				err = fmt.Errorf("%w: %w", ErrFull, err)
			}
			return fmt.Errorf("write volumes in %s: %w", v.dir, err)
		}
		v.mu.Lock()
		v.flushed.Store(b.at + uint64(len(b.data)))
		v.blocks = append(v.blocks[:0], v.blocks[1:]...)
		v.spare = append(v.spare, b)
		v.mu.Unlock()
	}
}

func (v *Volumes) writeBlock(b *block) error {
	number, off := split(b.at)
	f := v.find(number)
	if f == nil {
		var err error
		if f, err = v.create(number); err != nil {
			return err
		}
	}
	v.writes.Add(1)
	f.dirty = true
	if _, err := f.WriteAt(b.data, off); err != nil {
		return err
	}
	f.used.Store(off + int64(len(b.data)))
	return nil
}

// Flush writes everything that was appended to files, so that it outlives the program. It also uses the reserve.
func (v *Volumes) Flush() error {
	v.writing.Lock()
	defer v.writing.Unlock()
	return v.flush()
}

func (v *Volumes) flush() error {
	v.mu.Lock()
	if n := len(v.blocks); n > 0 {
		v.blocks[n-1].closed = true
	}
	v.mu.Unlock()
	return v.writeBlocks(false)
}

// Sync makes durable what was appended, and returns the address below which everything is. It also uses the reserve.
//
// If the system cannot sync, it may have dropped what it could not write, and trying again would prove nothing: from then
// on there is no appending anymore, and the volumes are to be opened again.
func (v *Volumes) Sync() (durable Address, err error) {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	v.writing.Lock()
	if err := v.flush(); err != nil {
		v.writing.Unlock()
		return 0, err
	}
	durable = v.flushed.Load()
	var dirty []*file
	for _, f := range *v.files.Load() {
		if f.dirty {
			f.dirty = false
			dirty = append(dirty, f)
		}
	}
	v.writing.Unlock()
	for _, f := range dirty {
		v.syncs.Add(1)
		err := f.Sync()
		if errors.Is(err, fs.ErrClosed) && v.find(f.number) != f {
			continue // dropped meanwhile
		}
		if err != nil {
			err = fmt.Errorf("sync volumes in %s, which must be opened again: %w", v.dir, err)
			v.mu.Lock()
			v.state = err
			v.mu.Unlock()
			return 0, err
		}
	}
	v.writing.Lock()
	v.durable = durable
	v.writing.Unlock()
	return durable, nil
}
