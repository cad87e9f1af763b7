//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package mapfile

import "os"

func mapBytes(f *os.File, size int) ([]byte, func() error, error) { return readBytes(f, size) }
