package format

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

const (
	second = int64(1e9)
	day    = 86400 * second
)

// Time writes times as text, faster where they are near the one before. The zero value is ready.
type Time struct {
	day, second int64 // of the text: numbers since the epoch
	ready       bool
	text        [25]byte
}

// Append appends a time in nanoseconds since the epoch as YYYYMMDDTHHMMSS.fffffffff, UTC.
func (t *Time) Append(dst []byte, ns int64) []byte {
	s, fraction := ns/second, ns%second
	if fraction < 0 {
		s, fraction = s-1, fraction+second
	}
	if s != t.second || !t.ready {
		t.set(s)
	}
	t.text[16] = '0' + byte(fraction/1e8)
	put8((*[8]byte)(t.text[17:]), uint32(fraction%1e8))
	return append(dst, t.text[:]...)
}

func (t *Time) set(s int64) {
	d, rest := s/86400, s%86400
	if rest < 0 {
		d, rest = d-1, rest+86400
	}
	if d != t.day || !t.ready {
		year, month, date := civil(d)
		*(*[2]byte)(t.text[0:]) = pairs[year/100]
		*(*[2]byte)(t.text[2:]) = pairs[year%100]
		*(*[2]byte)(t.text[4:]) = pairs[month]
		*(*[2]byte)(t.text[6:]) = pairs[date]
		t.text[8], t.text[15] = 'T', '.'
		t.day = d
	}
	*(*[2]byte)(t.text[9:]) = pairs[rest/3600]
	*(*[2]byte)(t.text[11:]) = pairs[rest/60%60]
	*(*[2]byte)(t.text[13:]) = pairs[rest%60]
	t.second, t.ready = s, true
}

// AppendTime appends one time as Time does.
func AppendTime(dst []byte, ns int64) []byte {
	var t Time
	return t.Append(dst, ns)
}

// civil is the date of a day since the epoch, by the eras of 400 years that begin on a first of March.
func civil(d int64) (year, month, date int64) {
	d += 719468
	era := d / 146097
	if d < 0 {
		era = (d - 146096) / 146097
	}
	inEra := d - era*146097
	yearOfEra := (inEra - inEra/1460 + inEra/36524 - inEra/146096) / 365
	inYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*inYear + 2) / 153
	date = inYear - (153*m+2)/5 + 1
	month = m + 3
	year = yearOfEra + era*400
	if m >= 10 {
		month, year = m-9, year+1
	}
	return year, month, date
}

// days is the day since the epoch of a date.
func days(year, month, date int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	yearOfEra := year - era*400
	inYear := (153*(month-3)+2)/5 + date - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + inYear - 719468
}

var errTime = errors.New("unknown timestamp format")

// ParseTime reads a time: YYYYMMDDTHHMMSS with up to nine digits behind a '.' or ',', in UTC, or the nanoseconds since
// the epoch as digits. Times beyond what an int64 holds become the last, or the first, that it does hold.
func ParseTime(text string) (int64, error) {
	if text == "" || strings.Trim(text, "0123456789T.,") != "" {
		return 0, errTime
	}
	if len(text) < 9 || text[8] != 'T' {
		n, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err != nil:
			return 0, errTime
		case n > math.MaxInt64:
			return math.MaxInt64, nil
		}
		return int64(n), nil
	}
	if len(text) < 15 {
		return 0, errTime
	}
	var field [6]int64
	for i, at := range [...][2]int{{0, 4}, {4, 6}, {6, 8}, {9, 11}, {11, 13}, {13, 15}} {
		n, err := strconv.ParseUint(text[at[0]:at[1]], 10, 32)
		if err != nil {
			return 0, errTime
		}
		field[i] = int64(n)
	}
	var fraction int64
	if rest := text[15:]; rest != "" {
		if len(rest) < 2 || len(rest) > 10 || rest[0] != '.' && rest[0] != ',' {
			return 0, errTime
		}
		n, err := strconv.ParseUint(rest[1:], 10, 32)
		if err != nil {
			return 0, errTime
		}
		fraction = int64(n)
		for range 10 - len(rest) {
			fraction *= 10
		}
	}
	if err := checkDate(field[0], field[1], field[2]); err != nil {
		return 0, err
	}
	if field[3] > 23 || field[4] > 59 || field[5] > 59 {
		return 0, errTime
	}
	s := days(field[0], field[1], field[2])*86400 + field[3]*3600 + field[4]*60 + field[5]
	// The first second and the last one are not whole.
	const most, least = math.MaxInt64 / second, math.MinInt64/second - 1
	switch {
	case s > most || s == most && fraction > math.MaxInt64%second:
		return math.MaxInt64, nil
	case s < least || s == least && fraction < second+math.MinInt64%second:
		return math.MinInt64, nil
	case s < 0:
		return (s+1)*second + (fraction - second), nil
	}
	return s*second + fraction, nil
}

// A dateError says what is wrong with a date, in the words of the original protocol.
type dateError string

func (e dateError) Error() string { return string(e) }

func checkDate(year, month, date int64) error {
	switch {
	case year < 1400:
		return dateError("Year is out of valid range: 1400..9999")
	case month < 1 || month > 12:
		return dateError("Month number is out of range 1..12")
	case date < 1 || date > 31:
		return dateError("Day of month value is out of range 1..31")
	}
	if y, m, d := civil(days(year, month, date)); y != year || m != month || d != date {
		return dateError("Day of month is not valid for year")
	}
	return nil
}

// ParseDuration reads a span of time: digits, then n, us, ms, s, m, min, h, d, or nothing for nanoseconds. It reports
// false for anything else, and for spans longer than an int64 holds.
func ParseDuration(text string) (int64, bool) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil {
		return 0, false
	}
	unit, ok := map[string]int64{
		"": 1, "n": 1, "us": 1e3, "ms": 1e6, "s": second, "m": 60 * second, "min": 60 * second, "h": 3600 * second, "d": day,
	}[text[len(number):]]
	if !ok || int64(n) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(n) * unit, true
}
