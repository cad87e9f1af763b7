//go:build race

package timely

const raceEnabled = true
