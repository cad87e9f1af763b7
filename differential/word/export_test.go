package word

// SetFuel sets how many words a call of Tidy looks at, at least.
func (l *Lexicons) SetFuel(n int) { l.fuel = n }
