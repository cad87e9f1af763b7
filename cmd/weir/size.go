package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// byteSize is a flag that takes a number of bytes such as 512MB or 2GiB.
type byteSize int64

func (b *byteSize) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return fmt.Errorf("expected a size above zero such as 512MB or 2GiB")
	}
	*b = byteSize(n)
	return nil
}

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return humanize.IBytes(uint64(*b))
}

func (b *byteSize) Type() string { return "size" }
