package series

import (
	"errors"
	"fmt"

	"weir/series/disk"
	"weir/series/wal"
)

// A CorruptError says what part of a store is damaged.
type CorruptError struct {
	Path           string
	Offset, Length int64 // bytes of the file; Length is 0 if it is not known
	What           string
	Err            error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s, from byte %d: %s is damaged: %v", e.Path, e.Offset, e.What, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// A RefusedError says how many points of a Writer were not stored, and why the first of them was not. The others were.
type RefusedError struct {
	Points int
	Err    error
}

func (e *RefusedError) Error() string {
	if e.Points == 1 {
		return fmt.Sprintf("a point was not stored: %v", e.Err)
	}
	return fmt.Sprintf("%d points were not stored, the first one since: %v", e.Points, e.Err)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// full makes an error of a full disk one that is ErrFull, whoever found it.
func full(err error) error {
	if err == nil || errors.Is(err, ErrFull) || !errors.Is(err, wal.ErrFull) && !disk.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}
