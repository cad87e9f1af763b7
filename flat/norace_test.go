//go:build !race

package flat_test

const raceEnabled = false
