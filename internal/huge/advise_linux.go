package huge

import "golang.org/x/sys/unix"

// advise asks for huge pages behind b, whose start is aligned to one. A kernel
// that refuses leaves a slower program, not a wrong one, so errors are dropped.
func advise(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
