package tree

import (
	"unsafe"

	"weir/series/names"
)

// Drop forgets a series. Its nodes stay in the volumes; an ID that was dropped is not to be used again.
func (f *Forest) Drop(id names.ID) error {
	s := f.find(id)
	if s == nil {
		return nil
	}
	if r := f.rareOf(id, s); r != nil {
		f.rareBytes -= 16*len(r.times) + len(r.deletions)*int(unsafe.Sizeof(Deletion{}))
		delete(f.rare, id)
	}
	f.disturb(id)
	delete(f.folds, id)
	f.freeTail(s)
	f.freeOpen(s)
	err := f.setLane0(s, nil)
	*s = state{}
	return err
}
