//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package arena

// Where memory cannot be mapped it is the collector's, which does not look into it, but counts it.
func mapSlab() ([]byte, error) { return make([]byte, slabBytes), nil }

func unmapSlab([]byte) error { return nil }
