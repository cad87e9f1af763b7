//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package arena

import "golang.org/x/sys/unix"

func mapSlab() ([]byte, error) {
	return unix.Mmap(-1, 0, slabBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func unmapSlab(slab []byte) error { return unix.Munmap(slab) }
