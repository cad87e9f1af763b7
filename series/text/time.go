package text

import (
	"math"
	"math/bits"
	"time"
)

const (
	secondNS = int64(time.Second)
	dayS     = 24 * 60 * 60
)

// unitOf is the unit, in ns, of whole numbers of which v is one.
func unitOf(v int64) int64 {
	size := uint64(v)
	if v < 0 {
		size = -size
	}
	switch {
	case size < 1e11:
		return secondNS
	case size < 1e14:
		return int64(time.Millisecond)
	case size < 1e17:
		return int64(time.Microsecond)
	}
	return 1
}

// parseNumberTime is a time in ns given as a number of units, which may have a
// fraction; what is finer than a nanosecond is dropped.
func parseNumberTime(b []byte, unit int64) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	whole, n, ok := leadingDigits(b)
	if n == 0 || !ok || whole > math.MaxInt64 {
		return 0, false
	}
	t, ok := inUnits(int64(whole), unit)
	if !ok {
		return 0, false
	}
	if n < len(b) {
		fraction, ok := parseFraction(b[n:], unit)
		if !ok || t > math.MaxInt64-fraction {
			return 0, false
		}
		t += fraction
	}
	if negative {
		t = -t
	}
	return t, true
}

// parseFraction is ".25" of a unit, or ",25".
func parseFraction(b []byte, unit int64) (int64, bool) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' {
		return 0, false
	}
	// Nine digits reach below a nanosecond of every unit up to a second; longer
	// units keep theirs because the digits are weighed one by one.
	var sum, rest int64 = 0, unit
	for _, c := range b[1:] {
		if c-'0' > 9 {
			return 0, false
		}
		if rest%10 != 0 {
			// A minute is 6·10¹⁰ ns: behind that power of ten no digit counts.
			rest = 0
		}
		rest /= 10
		sum += int64(c-'0') * rest
	}
	return sum, true
}

// looksLikeDate reports whether a text begins as a date does, with four digits
// and '-' or '/', or with eight and 'T'.
func looksLikeDate(b []byte) bool {
	_, n, _ := leadingDigits(b)
	return n == 4 && len(b) > 4 && (b[4] == '-' || b[4] == '/') || n == 8 && len(b) > 8 && b[8] == 'T'
}

// parseDate is the time of a date:
//
//	2017-01-02T03:04:05.678Z    with ' ' or 't' for T, '/' for '-', ',' for '.', a zone as +01:00,
//	                            +0100 or +01, or none, which is UTC; without the seconds, or
//	                            without all that follows the day
//	20170102T030405.678Z        the same without '-' and ':'
//
// It must be a day of the Gregorian calendar, between 1677 and 2262, where
// nanoseconds end. A leap second is the first of the next minute. A fraction
// is cut behind nine digits.
func parseDate(b []byte) (int64, bool) {
	if len(b) < 8 {
		return 0, false
	}
	var year, month, day int
	ok := true
	two := func(i int) int {
		if i+2 > len(b) || b[i]-'0' > 9 || b[i+1]-'0' > 9 {
			ok = false
			return 0
		}
		return int(b[i]-'0')*10 + int(b[i+1]-'0')
	}
	year = two(0)*100 + two(2)
	basic := b[4]-'0' <= 9
	rest := 8
	if basic {
		month, day = two(4), two(6)
	} else {
		if len(b) < 10 || b[4] != '-' && b[4] != '/' || b[7] != b[4] {
			return 0, false
		}
		month, day = two(5), two(8)
		rest = 10
	}
	if !ok || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	seconds := daysSince1970(year, month, day) * dayS
	var ns int64
	if rest < len(b) {
		if c := b[rest]; c != 'T' && (basic || c != ' ' && c != 't') {
			return 0, false
		}
		s, f, ok := parseClock(b[rest+1:], basic)
		if !ok {
			return 0, false
		}
		seconds += s
		ns = f
	} else if basic {
		return 0, false // eight digits are a number
	}
	return join(seconds, ns)
}

// join is seconds and ns in ns, and whether that fits.
func join(seconds, ns int64) (int64, bool) {
	// Before 1970 the last representable second is one that its ns bring in range.
	if seconds < 0 && ns > 0 {
		seconds++
		ns -= secondNS
	}
	hi, lo := bits.Mul64(uint64(max(seconds, -seconds)), uint64(secondNS))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	t := int64(lo)
	if seconds < 0 {
		t = -t
	}
	sum := t + ns
	return sum, (ns < 0) == (sum < t) && (ns > 0) == (sum > t)
}

// parseClock reads the time of day and the zone, as seconds of UTC and ns.
func parseClock(b []byte, basic bool) (seconds, ns int64, ok bool) {
	var field [3]int64 // hours, minutes, seconds
	i := 0
	for k := range field {
		if k > 0 && !basic {
			if i >= len(b) || b[i] != ':' {
				if k == 2 {
					break
				}
				return 0, 0, false
			}
			i++
		}
		if i+2 > len(b) || b[i]-'0' > 9 || b[i+1]-'0' > 9 {
			return 0, 0, false
		}
		field[k] = int64(b[i]-'0')*10 + int64(b[i+1]-'0')
		i += 2
	}
	if field[0] > 23 || field[1] > 59 || field[2] > 60 {
		return 0, 0, false
	}
	seconds = field[0]*3600 + field[1]*60 + field[2]
	if i < len(b) && (b[i] == '.' || b[i] == ',') {
		end := i + 1
		for end < len(b) && b[end]-'0' <= 9 {
			end++
		}
		if ns, ok = parseFraction(b[i:end], secondNS); !ok {
			return 0, 0, false
		}
		i = end
	}
	zone, ok := parseZone(b[i:])
	return seconds - zone, ns, ok
}

// parseZone is how many seconds a zone is ahead of UTC.
func parseZone(b []byte) (int64, bool) {
	switch {
	case len(b) == 0, len(b) == 1 && (b[0] == 'Z' || b[0] == 'z'):
		return 0, true
	case b[0] != '+' && b[0] != '-':
		return 0, false
	}
	sign := int64(1)
	if b[0] == '-' {
		sign = -1
	}
	b = b[1:]
	if len(b) == 5 && b[2] == ':' {
		b = []byte{b[0], b[1], b[3], b[4]}
	}
	v, n, _ := leadingDigits(b)
	if n != len(b) || n != 2 && n != 4 {
		return 0, false
	}
	if n == 2 {
		v *= 100
	}
	if v/100 > 23 || v%100 > 59 {
		return 0, false
	}
	return sign * int64(v/100*3600+v%100*60), true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSince1970 counts days of the Gregorian calendar; years begin in March
// here, so that the leap day is the last.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400 // years are not negative
	inEra := year - era*400
	inYear := (153*(month-3)+2)/5 + day - 1
	return int64(era*146097 + inEra*365 + inEra/4 - inEra/100 + inYear - 719468)
}
