package timely

import (
	"net"
	"testing"

	"pgregory.net/rapid"

	"weir/mesh"
)

// parts are what random programs are made of: each makes a stream of two, by operators whose
// output does not depend on the sequence in which records come.
var parts = []func(a, b Stream[uint64], k uint64) Stream[uint64]{
	func(a, b Stream[uint64], k uint64) Stream[uint64] { return a.Concat(b) },
	func(a, _ Stream[uint64], k uint64) Stream[uint64] {
		return a.Map(func(x uint64) uint64 { return x*k + 1 })
	},
	func(a, _ Stream[uint64], k uint64) Stream[uint64] {
		return a.Filter(func(x uint64) bool { return x%7 != k })
	},
	func(a, _ Stream[uint64], k uint64) Stream[uint64] {
		return a.Exchange(func(x uint64) uint64 { return HashUint64(x + k) })
	},
	func(a, b Stream[uint64], k uint64) Stream[uint64] {
		yes, no := a.Branch(func(x uint64) bool { return x&(1<<k) == 0 })
		return yes.MapInPlace(func(x *uint64) { *x += 3 }).Concat(no)
	},
	func(a, _ Stream[uint64], k uint64) Stream[uint64] {
		return a.Delay(func(t Time, x uint64) Time { t[0] += x % k; return t })
	},
	func(a, _ Stream[uint64], _ uint64) Stream[uint64] { return Distinct(a) },
	func(a, _ Stream[uint64], k uint64) Stream[uint64] {
		return a.Aggregate(func(x uint64) uint64 { return x % k }, func(so *uint64, x uint64) { *so += x },
			func(key, so uint64) uint64 { return so<<2 + key })
	},
	func(a, b Stream[uint64], k uint64) Stream[uint64] {
		return a.Concat(b).Exchange(func(uint64) uint64 { return k }).
			Accumulate(k, func(so uint64, batch []uint64) uint64 {
				for _, x := range batch {
					so = max(so, x)
				}
				return so
			})
	},
	func(a, _ Stream[uint64], k uint64) Stream[uint64] { // how many of each key there were so far, at each time
		return a.Map(func(x uint64) uint64 { return x % k }).
			StateMachine(func(x uint64) uint64 { return x }, func(key uint64, n *uint64, _ uint64, emit func(uint64)) bool {
				*n++
				emit(*n<<2 + key)
				return *n == 20
			})
	},
	func(a, b Stream[uint64], k uint64) Stream[uint64] { // until it is small
		return a.Concat(b).Iterate("shrink", func(x Stream[uint64]) (again, out Stream[uint64]) {
			big, small := x.Exchange(HashUint64).Branch(func(x uint64) bool { return x > 100*k })
			return big.Map(func(x uint64) uint64 { return x / 3 }), small
		})
	},
}

// TestProgramsOnAnyWorkers checks that random programs have the same output on one worker and on
// several, of one process or two, whatever the length of the batches that they send.
func TestProgramsOnAnyWorkers(t *testing.T) {
	type instruction struct {
		part, a, b int
		k          uint64
	}
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) instruction {
			return instruction{rapid.IntRange(0, len(parts)-1).Draw(t, "part"), rapid.IntRange(0, 8).Draw(t, "a"), rapid.IntRange(0, 8).Draw(t, "b"), rapid.Uint64Range(1, 5).Draw(t, "k")}
		}), 1, 8).Draw(t, "program")
		records := drawRecords(t)
		run := func(factor int, processes ...Config) []timed[uint64] {
			return runModelOn(t, processes, factor, records, func(_ *Worker, s Stream[uint64]) Stream[uint64] {
				streams := []Stream[uint64]{s}
				for _, i := range program {
					streams = append(streams, parts[i.part](streams[i.a%len(streams)], streams[i.b%len(streams)], i.k))
				}
				return streams[len(streams)-1]
			})
		}
		factor := rapid.SampledFrom([]int{1, 3, 60}).Draw(t, "factor")
		want := run(factor, Threads(1))
		for threads := 2; threads <= 4; threads++ {
			same(t, run(factor, Threads(threads)), want)
		}
		if rapid.IntRange(0, 9).Draw(t, "on processes") == 0 {
			same(t, run(factor, cluster(t, 2, rapid.IntRange(1, 2).Draw(t, "threads"))...), want)
		}
	})
}

// cluster is processes on the loopback interface.
func cluster(t require, processes, threads int) []Config {
	all := make([]Config, processes)
	var addresses []string
	for i := range all {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, l.Addr().String())
		all[i].Config = mesh.Config{Threads: threads, Processes: processes, Process: i, Listener: l}
	}
	for i := range all {
		all[i].Addresses = addresses
	}
	return all
}
