package report

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Load finds out how much of the machine's processors others use while something is
// measured.
type Load struct {
	begin time.Time
	busy  time.Duration
}

// StartLoad begins to look. It fails where the system does not tell, which [Load.Sentence] says of the Load.
func StartLoad() (Load, error) {
	busy, err := busy()
	return Load{time.Now(), busy}, err
}

// Others is the share, from 0 to 1, of all processors that has been used since by other processes than
// those that were measured, which used so much processor time.
func (l Load) Others(measured time.Duration) (float64, error) {
	now, err := busy()
	if err != nil {
		return 0, err
	}
	used := (now - l.busy - measured).Seconds()
	return max(used/time.Since(l.begin).Seconds()/float64(runtime.NumCPU()), 0), nil
}

// Sentence says what [Load.Others] has found, behind "others".
func (l Load) Sentence(measured time.Duration) string {
	others, err := l.Others(measured)
	if err != nil || l.busy == 0 {
		return "not told by the system"
	}
	return fmt.Sprintf("used %.0f %% of the processors meanwhile", 100*others)
}

// tick is what the kernel counts processor time in.
const tick = 10 * time.Millisecond

// busy is the processor time that was spent by everybody on the machine since it was started.
func busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseBusy(text)
}

// parseBusy adds up the time of all processors that was not idle, in the kernel's file of
// statistics: user, nice, system, idle, waiting for disks, interrupts of two kinds, and what other
// machines on the same processors took.
func parseBusy(text []byte) (busy time.Duration, err error) {
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("statistics of the kernel begin with %q, expected cpu and 8 numbers", line)
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("statistics of the kernel: %w", err)
		}
		if i != 3 && i != 4 {
			busy += time.Duration(n) * tick
		}
	}
	return busy, nil
}
