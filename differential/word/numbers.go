package word

// numbers are the words that a lexicon has given out, from 1, and where the bytes of
// each are. They are in pages, so that there is nothing large to copy, and what
// many values once took is given back.
type numbers struct {
	pages  []page
	open   []uint32 // pages that may have a free number; the last is tried first
	absent []uint32 // pages that have no memory
}

// page is the places of 4,096 numbers. A place is 32 bits of chunk, of which there is
// no 0, and 32 of offset in it. A place without a chunk is free: its offset is the
// index of the next free one in the page, plus 1; or 0.
type page struct {
	places []uint64 // nil if the page is absent
	used   int
	free   uint32 // index of the first free place, plus 1
	isOpen bool
}

const (
	pageBits  = 12
	pageMask  = 1<<pageBits - 1
	maxNumber = 1<<32 - 1
)

// has says whether a number has a place.
func (x *numbers) has(n uint64) bool {
	p := n >> pageBits
	return p < uint64(len(x.pages)) && x.pages[p].places != nil && x.pages[p].places[n&pageMask]>>32 != 0
}

// place returns the place of a number that has one.
func (x *numbers) place(n uint64) uint64 { return x.pages[n>>pageBits].places[n&pageMask] }

// take returns a free number, and gives it a place.
func (x *numbers) take(place uint64) uint64 {
	for len(x.open) > 0 {
		id := x.open[len(x.open)-1]
		if p := &x.pages[id]; p.free != 0 {
			i := p.free - 1
			p.free = uint32(p.places[i])
			p.places[i] = place
			p.used++
			return uint64(id)<<pageBits | uint64(i)
		}
		x.pages[id].isOpen = false
		x.open = x.open[:len(x.open)-1]
	}
	x.openPage()
	return x.take(place)
}

// openPage makes a page with free numbers.
func (x *numbers) openPage() {
	id := uint32(len(x.pages))
	if k := len(x.absent); k > 0 {
		id = x.absent[k-1]
		x.absent = x.absent[:k-1]
	} else {
		if id > maxNumber>>pageBits {
			panic("word: a lexicon holds 2^32-1 values and is full")
		}
		x.pages = append(x.pages, page{})
	}
	places := make([]uint64, 1<<pageBits)
	for i := range places[:pageMask] {
		places[i] = uint64(i) + 2
	}
	p := page{places: places, free: 1, isOpen: true}
	if id == 0 {
		p.free = 2 // there is no number 0
	}
	x.pages[id] = p
	x.open = append(x.open, id)
}

// release frees a number.
func (x *numbers) release(n uint64) {
	id := uint32(n >> pageBits)
	p := &x.pages[id]
	p.used--
	p.places[n&pageMask] = uint64(p.free)
	p.free = uint32(n&pageMask) + 1
	if !p.isOpen {
		p.isOpen = true
		x.open = append(x.open, id)
	}
}

// tidy gives back the pages of which no number is in use, and orders the others so that
// the first are filled first.
func (x *numbers) tidy() {
	x.open, x.absent = x.open[:0], x.absent[:0]
	for id := len(x.pages) - 1; id >= 0; id-- {
		p := &x.pages[id]
		if p.used == 0 {
			*p = page{}
			x.absent = append(x.absent, uint32(id))
		} else if p.isOpen = p.free != 0; p.isOpen {
			x.open = append(x.open, uint32(id))
		}
	}
}

func (x *numbers) size() int {
	return 8*(len(x.pages)-len(x.absent))<<pageBits + 48*cap(x.pages)
}
