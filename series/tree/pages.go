package tree

import (
	"cmp"
	"errors"

	"weir/series/names"
	"weir/series/volume"
)

// What is done with all series of a Forest can be done page by page, of pageSize series each, so that its owner can let
// go of its lock in between.

// FlushOlder flushes the series whose oldest point in memory is in a segment of the log before limit.
func (f *Forest) FlushOlder(limit uint32) error {
	for page := range f.pages {
		if _, err := f.FlushOlderPage(limit, page); err != nil {
			return err
		}
	}
	return nil
}

// FlushOlderPage is FlushOlder for one page of series, from 0 on, and reports whether there are more behind it.
func (f *Forest) FlushOlderPage(limit uint32, page int) (more bool, err error) {
	return f.eachOf(page, func(id names.ID, s *state) error {
		if s.segment == 0 || s.segment >= limit {
			return nil
		}
		return f.Flush(id)
	})
}

// CloseCold closes series to which nothing was added for turns of the clock, until so many bytes less are in use, and
// returns how many are.
func (f *Forest) CloseCold(turns uint32, bytes int) (freed int, err error) {
	for page := 0; page < len(f.pages) && freed < bytes && err == nil; page++ {
		n := 0
		n, _, err = f.CloseColdPage(turns, bytes-freed, page)
		freed += n
	}
	return freed, err
}

// CloseColdPage is CloseCold for one page of series, from 0 on, and reports whether there are more behind it.
func (f *Forest) CloseColdPage(turns uint32, bytes, page int) (freed int, more bool, err error) {
	before := f.Memory()
	more, err = f.eachOf(page, func(id names.ID, s *state) error {
		if before-f.Memory() >= bytes || f.clock-s.touched < turns || s.tail == 0 && s.open == 0 && s.refsLen <= 1 {
			return nil
		}
		return f.Close(id)
	})
	return before - f.Memory(), more, err
}

// fewRefs is how many references are not worth a node of their own when the program ends.
const fewRefs = 4

// CloseAll writes what is in memory of all series. Of those that have few nodes the references to them stay in memory: a
// checkpoint keeps them as well as a node would.
func (f *Forest) CloseAll() error {
	return f.each(func(id names.ID, _ *state) error { return f.closeTo(id, fewRefs) })
}

// eachOf calls do with every series of a page, and reports whether there are pages behind it.
func (f *Forest) eachOf(page int, do func(id names.ID, s *state) error) (more bool, err error) {
	if page < 0 || page >= len(f.pages) {
		return false, nil
	}
	for i := range f.pages[page] {
		if e := do(f.idOf(page, i), &f.pages[page][i]); e != nil {
			if errors.Is(e, volume.ErrFull) {
				return true, e
			}
			// One series that is damaged does not keep the others from what is done with all.
			err = cmp.Or(err, e)
		}
	}
	return page+1 < len(f.pages), err
}
