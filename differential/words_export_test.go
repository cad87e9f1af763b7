package differential

import "weir/timely"

// Lexicons is how many values the lexicons of a worker know.
func Lexicons(w *timely.Worker) int {
	values, _ := timely.Own[local](w).lexicons.Size()
	return values
}
