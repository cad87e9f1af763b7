package series

import "sync"

// readers knows who reads, so that no volume is dropped that somebody reads from who began when it was needed.
type readers struct {
	mu   sync.Mutex
	turn uint64
	open map[uint64]int // how many of each turn have not ended
}

// reading is somebody who reads, until end.
type reading struct {
	r     *readers
	turn  uint64
	ended bool
}

func (r *readers) begin() reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[uint64]int{}
	}
	r.open[r.turn]++
	return reading{r: r, turn: r.turn}
}

// end may be called again.
func (x *reading) end() {
	if x.ended {
		return
	}
	x.ended = true
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	if x.r.open[x.turn]--; x.r.open[x.turn] == 0 {
		delete(x.r.open, x.turn)
	}
}

// next ends a turn: whoever begins from now on is not of it.
func (r *readers) next() (turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn = r.turn
	r.turn++
	return turn
}

// gone reports whether all who began in a turn or before it have ended.
func (r *readers) gone(turn uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.open {
		if t <= turn {
			return false
		}
	}
	return true
}
