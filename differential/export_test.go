package differential

import (
	"weir/differential/trace"
	"weir/differential/word"
	"weir/timely"
)

// SetJoinFuel sets how much a join does before others have their turn, until restore is called.
func SetJoinFuel(n int) (restore func()) {
	old := joinFuel
	joinFuel = n
	return func() { joinFuel = old }
}

// StatsOf is the size of the index of a collection on this worker, which is made if there is none.
func StatsOf[K, V comparable](k Keyed[K, V]) func() trace.Stats { return k.arranged().trace.Stats }

// ForgetAlways has workers forget, at every turn, all words that are not known to be in use, until restore is called.
func ForgetAlways() (restore func()) {
	tidy = func(l *word.Lexicons) bool { l.Sweep(); return false }
	return func() { tidy = (*word.Lexicons).Tidy }
}

// Lexicons is how many values the lexicons of a worker know.
func Lexicons(w *timely.Worker) int {
	values, _ := timely.Own[local](w).lexicons.Size()
	return values
}
