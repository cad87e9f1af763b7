package posting

// View is one list at one moment. It is small, and valid as long as it is held.
type View struct {
	head
	chunks []*[1 << chunkBits]byte
	sizes  []uint8
	long   longView
}

// Len is the number of numbers in the list.
func (v *View) Len() int { return int(v.n) }

// Walk calls yield with the numbers of the list, ascending, until yield
// returns false. It reports whether yield never did.
func (v *View) Walk(yield func(uint32) bool) bool {
	switch {
	case v.n == 0:
		return true
	case v.n == 1:
		return yield(v.last)
	case !v.walk(min(v.n, longFrom), yield):
		return false
	case v.n <= longFrom:
		return true
	}
	return v.long.each(func(b *block) bool { return b.walk(yield) })
}

// AppendTo appends the numbers of the list to ids, ascending.
func (v *View) AppendTo(ids []uint32) []uint32 {
	v.Walk(func(id uint32) bool {
		ids = append(ids, id)
		return true
	})
	return ids
}

// Or sets in a bitmap (bit i%64 of word i/64 stands for number i) the bits of
// the list's numbers. Numbers beyond the bitmap are left out.
func (v *View) Or(set []uint64) {
	switch {
	case v.n == 0:
		return
	case v.n == 1:
		setBit(set, v.last)
		return
	}
	v.walk(min(v.n, longFrom), func(id uint32) bool {
		setBit(set, id)
		return true
	})
	if v.n > longFrom {
		v.long.each(func(b *block) bool {
			b.or(set, 0)
			return true
		})
	}
}
