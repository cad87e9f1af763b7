package wal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"weir/series/disk"
)

// Commit returns once a frame, and so all before it, is as durable as the mode asks. Those who wait at the same time
// share one write and one fsync: one of them leads, and the others wait for it.
//
// On a full disk the error is ErrFull, and the frame stays. Another Commit tries again, and so does one that was told of
// other failures of writing. After ErrFailed nothing is tried anymore. If ctx ends, it is unknown what happened.
func (l *Log) Commit(ctx context.Context, lsn LSN) error {
	return l.wait(ctx, lsn, l.o.Sync == Always)
}

// Sync returns once all that was appended before the call is durable. Its errors are those of Commit.
func (l *Log) Sync(ctx context.Context) error {
	l.mu.Lock()
	lsn := l.appended
	l.mu.Unlock()
	return l.wait(ctx, lsn, true)
}

func (l *Log) wait(ctx context.Context, lsn LSN, sync bool) error {
	for {
		l.mu.Lock()
		r := l.round
		done, err := l.reached(lsn, sync)
		l.mu.Unlock()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.done:
			if r.err != nil && lsn <= r.upto {
				return r.err
			}
		case l.turn <- struct{}{}:
			l.mu.Lock()
			done, err := l.reached(lsn, sync)
			l.mu.Unlock()
			always := l.o.Sync == Always
			if !done && err == nil {
				err = l.lead(sync && always)
			}
			<-l.turn
			if err == nil && sync && !always {
				err = l.fsync() // while others write
			}
			if err != nil {
				return err
			}
		}
	}
}

// reached says whether a frame is written, or durable if sync; or why it will not be. It is called with mu held.
func (l *Log) reached(lsn LSN, sync bool) (bool, error) {
	switch {
	case lsn > l.appended:
		return false, fmt.Errorf("commit frame %d of the log in %s: the last one is %d", lsn, l.dir, l.appended)
	case lsn <= l.synced, !sync && lsn <= l.written && l.state == nil:
		return true, nil
	}
	return false, l.state
}

// lead writes all that is pending, makes it durable if sync, and tells those who wait. It is called by the leader.
func (l *Log) lead(sync bool) error {
	err := l.write()
	if err == nil && sync {
		err = l.fsync()
	}
	l.mu.Lock()
	r := l.round
	l.round = &round{done: make(chan struct{})}
	l.mu.Unlock()
	r.upto, r.err = l.outEnd, err
	close(r.done)
	return err
}

// write writes what an error left in out, then what is pending.
func (l *Log) write() error {
	if err := l.writeOut(); err != nil {
		return err
	}
	l.mu.Lock()
	l.out, l.pending = l.pending, l.out[:markSize]
	l.next, l.sealed, l.outEnd = markSize, 0, l.appended
	durable := l.durable
	l.mu.Unlock()
	if len(l.out) > markSize && durable > l.marked {
		// This is decided once: if a write fails, the next one writes the same bytes to the same place. Otherwise power
		// could be lost with some sectors of the one and some of the other, in which a frame might be found twice.
		putMark(l.out, durable)
		l.next, l.marked = 0, durable
	}
	return l.writeOut()
}

func (l *Log) writeOut() error {
	for l.next < len(l.out) {
		l.mu.Lock()
		state, file, off := l.state, l.file, l.off
		l.mu.Unlock()
		if errors.Is(state, ErrFailed) {
			return state
		}
		if err := l.checkRoom(int64(len(l.out) - l.next)); err != nil {
			return err
		}
		if l.sealed <= l.next && (file == nil || !l.seal(off)) {
			if err := l.rotate(); err != nil {
				return err
			}
			continue
		}
		if _, err := file.WriteAt(l.out[l.next:l.sealed], off); err != nil {
			return l.failedWrite(err)
		}
		l.mu.Lock()
		l.off += int64(l.sealed - l.next)
		l.written += l.frames
		l.mu.Unlock()
		l.next = l.sealed
	}
	return nil
}

// lookEvery is how many bytes are written at most before somebody looks again how much is free.
const lookEvery = 1 << 20

// checkRoom returns ErrFull if with n bytes more there would be less free than the reserve.
func (l *Log) checkRoom(n int64) error {
	if l.o.Reserve == 0 {
		return nil
	}
	if l.room < n {
		free, err := l.fs.Free(l.dir)
		if err != nil {
			return fmt.Errorf("write the log in %s: %w", l.dir, err)
		}
		if free-n < l.o.Reserve {
			return fmt.Errorf("write the log in %s: %w but for the reserve: %d bytes are free, and %d are to remain", l.dir, ErrFull, free, l.o.Reserve)
		}
		l.room = max(n, min(lookEvery, (free-l.o.Reserve)/2))
	}
	l.room -= n
	return nil
}

func (l *Log) failedWrite(err error) error {
	if disk.IsFull(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("write the log in %s: %w", l.dir, err)
}

// seal gives their checksums to as many frames of out as go to this segment, or returns false if none does. An empty
// segment takes any frame. A mark is about this segment, and so it always fits.
func (l *Log) seal(off int64) bool {
	l.frames = 0
	i := l.next
	for i < len(l.out) {
		head := l.out[i:]
		n, mark := frameSize+payloadLength(head), head[3] == kindMark
		if !mark && off > headerSize && off+int64(n) > l.o.SegmentSize {
			break
		}
		putSum(head, bind(binary.LittleEndian.Uint32(head[4:]), head, l.number, off))
		if !mark {
			l.frames++
		}
		off += int64(n)
		i += n
	}
	l.sealed = i
	return i > l.next
}

// rotate begins a segment. The one before is durable first, whatever the mode: so only in the last segment frames may be
// torn. The header is durable before there are frames, so a segment without one holds none.
func (l *Log) rotate() error {
	number := l.number
	if l.file != nil {
		if err := l.fsync(); err != nil {
			return err
		}
		if number == math.MaxUint32 {
			return fmt.Errorf("write the log in %s: there is no number above %d for another segment", l.dir, number)
		}
		number++
	}
	path := l.path(number)
	f, err := l.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return l.failedWrite(err)
	}
	if _, err := f.WriteAt(appendHeader(nil, number), 0); err != nil {
		return l.failedWrite(errors.Join(err, f.Close(), l.fs.Remove(path)))
	}
	if err := errors.Join(f.Sync(), l.fs.SyncDir(l.dir)); err != nil {
		return errors.Join(l.fail(err), f.Close())
	}
	l.syncing.Lock()
	l.mu.Lock()
	before := l.file
	if before != nil {
		l.old = append(l.old, segment{l.number, l.off})
	}
	l.file, l.number, l.off, l.durable, l.marked = f, number, headerSize, headerSize, headerSize
	l.mu.Unlock()
	l.syncing.Unlock()
	if before != nil {
		_ = before.Close() // all of it is durable
	}
	return nil
}

// fsync makes durable what is written. Writing goes on meanwhile, if the caller is not the leader.
func (l *Log) fsync() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	state, file, written, off := l.state, l.file, l.written, l.off
	need := off > l.durable // of a mark too, and of what is before this segment all is durable
	l.mu.Unlock()
	if errors.Is(state, ErrFailed) {
		return state
	}
	if !need {
		return nil
	}
	if l.o.BeforeSync != nil {
		if err := l.o.BeforeSync(); err != nil {
			return fmt.Errorf("before syncing the log in %s: %w", l.dir, err)
		}
	}
	if err := file.Sync(); err != nil {
		return l.fail(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced, l.durable = written, off
	return nil
}

// fail ends the log. When an fsync fails, the system may have dropped what it could not write and have marked it as
// clean: a later fsync then succeeds and proves nothing. So no frame that is not durable by now is ever acknowledged;
// Replay writes what it finds of them again.
func (l *Log) fail(err error) error {
	err = fmt.Errorf("sync the log in %s: %w: %w", l.dir, ErrFailed, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.Is(l.state, ErrClosed) {
		l.state = err
	}
	return err
}
