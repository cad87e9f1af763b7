//go:build !linux

package main

import "time"

// clockName says what rates are measured by.
const clockName = "time"

// now is the time since the program was started.
func now() time.Duration { return time.Since(begin) }

var begin = time.Now()
