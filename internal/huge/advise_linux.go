package huge

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks for huge pages behind b, which begins at one and is whole pages
// long. A kernel that refuses leaves a slower program, not a wrong one, so
// errors are dropped.
//
// The advice alone reaches only memory that was never touched. What the garbage
// collector hands out again is backed by small pages already, and is collapsed
// into huge ones (Linux 6.1 and later).
func advise(b []byte) {
	if len(b) == 0 || unix.Madvise(b, unix.MADV_HUGEPAGE) != nil {
		return
	}
	if touched(b) {
		_ = unix.Madvise(b, unix.MADV_COLLAPSE)
	}
}

// touched says whether any page of b is backed already.
func touched(b []byte) bool {
	small := os.Getpagesize()
	resident := make([]byte, (len(b)+small-1)/small)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE,
		uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&resident[0])))
	return errno == 0 && bytes.IndexByte(resident, 1) >= 0
}
