package names

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fleet appends name i of n: ten metrics of each of n/10 hosts, with five tags,
// as monitoring makes them.
func fleet(dst []byte, i int) []byte {
	host := i / 10
	dst = append(dst, "cpu.usage_"...)
	dst = append(dst, [...]string{"user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"}[i%10]...)
	dst = append(dst, " arch="...)
	dst = append(dst, [...]string{"x86", "x64"}[host%2]...)
	dst = append(dst, " datacenter=eu-central-1"...)
	dst = append(dst, "abc"[host%3])
	dst = append(dst, " hostname=host_"...)
	dst = strconv.AppendInt(dst, int64(host), 10)
	dst = append(dst, " region="...)
	dst = append(dst, [...]string{"eu-central-1", "us-west-2", "us-east-1", "ap-southeast-2", "sa-east-1"}[host%5]...)
	dst = append(dst, " service="...)
	return strconv.AppendInt(dst, int64(host%20), 10)
}

// unique appends name i with a value that no other name has: what breaks indexes.
func unique(dst []byte, i int) []byte {
	dst = append(dst, "requests datacenter=eu-central-1"...)
	dst = append(dst, "abc"[i%3])
	dst = append(dst, " method=GET pod=api-"...)
	dst = strconv.AppendUint(dst, uint64(uint32(i)*2654435761), 36)
	dst = append(dst, " service="...)
	dst = strconv.AppendInt(dst, int64(i%200), 10)
	return append(dst, " zone=a"...)
}

var kinds = []struct {
	name string
	make func([]byte, int) []byte
}{{"fleet", fleet}, {"unique", unique}}

func build(tb testing.TB, n int, name func([]byte, int) []byte) *Index {
	ix := New()
	var buf []byte
	for i := range n {
		buf = name(buf[:0], i)
		if _, _, err := ix.Add(buf); err != nil {
			tb.Fatal(err)
		}
	}
	return ix
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

const million = 1_000_000

func BenchmarkAdd(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			var before, after uint64
			var ix *Index
			for b.Loop() {
				b.StopTimer()
				ix = nil
				before = heap()
				b.StartTimer()
				ix = build(b, million, kind.make)
				b.StopTimer()
				after = heap()
				b.StartTimer()
			}
			text := 0
			for i := range million {
				text += len(kind.make(nil, i))
			}
			b.ReportMetric(float64(after-before)/million, "B/name")
			b.ReportMetric(float64(text)/million, "B/text")
			b.ReportMetric(float64(ix.lists.Bytes())/million, "B/name-lists")
			b.ReportMetric(million*float64(b.N)/b.Elapsed().Seconds(), "names/s")
			b.Logf("symbols %d, codes %d, addresses %d, table %d, lists %d", ix.symbols.bytes(), ix.codes.bytes(), ix.at.bytes(), ix.table.bytes(), ix.lists.Bytes())
		})
	}
}

// BenchmarkOpen opens a store of a million names, as it is after a stop and
// after a compaction.
func BenchmarkOpen(b *testing.B) {
	for _, kind := range kinds {
		dir := b.TempDir()
		s := open(b, dir)
		var buf []byte
		for i := range million {
			buf = kind.make(buf[:0], i)
			if _, _, err := s.Add(buf); err != nil {
				b.Fatal(err)
			}
		}
		size := s.end
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				s := open(b, dir)
				if s.Len() != million {
					b.Fatal(s.Len())
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(million*float64(b.N)/b.Elapsed().Seconds(), "names/s")
			b.ReportMetric(float64(size)/million, "B/name-file")
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	ix := build(b, million, fleet)
	rnd := rand.New(rand.NewPCG(1, 2))
	all := make([][]byte, 1<<16)
	for i := range all {
		all[i] = fleet(nil, rnd.IntN(million))
	}
	b.Run("name", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, ok, _ := ix.Lookup(all[i%len(all)]); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("id", func(b *testing.B) {
		var buf []byte
		for i := 0; b.Loop(); i++ {
			buf = ix.AppendName(buf[:0], ID(uint32(i)*2654435761%million))
		}
	})
}

func BenchmarkFind(b *testing.B) {
	ix := build(b, million, fleet)
	hosts, err := TagRegexp("hostname", "host_1.*7")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		where []Match
	}{
		{"one", []Match{Metric("cpu.usage_user"), Tag("hostname", "host_4711")}},
		{"metric", []Match{Metric("cpu.usage_user")}},
		{"metric+region", []Match{Metric("cpu.usage_user"), Tag("region", "us-west-2")}},
		{"metric+set-arch", []Match{Metric("cpu.usage_user"), Tag("service", "1", "3", "7"), Tag("arch", "x86").Not()}},
		{"prefix", []Match{Metric("cpu.usage_user"), TagPrefix("hostname", "host_123")}},
		{"regexp", []Match{Metric("cpu.usage_user"), hosts}},
		{"not", []Match{Tag("region", "us-west-2").Not()}},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				set, err := ix.Find(b.Context(), c.where)
				if err != nil {
					b.Fatal(err)
				}
				n = set.Len()
			}
			b.ReportMetric(float64(n), "series")
		})
	}
}

func BenchmarkSuggest(b *testing.B) {
	for _, kind := range kinds {
		ix := build(b, million, kind.make)
		metric, key, prefix := "cpu.usage_user", "hostname", "host_77"
		if kind.name == "unique" {
			metric, key, prefix = "requests", "pod", "api-z"
		}
		for _, c := range []struct {
			name string
			ask  func() ([]string, error)
		}{
			{"metrics", func() ([]string, error) { return ix.Metrics(b.Context(), metric[:1], 20) }},
			{"keys", func() ([]string, error) { return ix.Keys(b.Context(), metric, "", 20) }},
			{"values", func() ([]string, error) { return ix.Values(b.Context(), metric, key, prefix, 20) }},
			{"values-of-any", func() ([]string, error) { return ix.Values(b.Context(), "", key, prefix, 20) }},
			{"values-all", func() ([]string, error) { return ix.Values(b.Context(), metric, key, prefix, 0) }},
		} {
			b.Run(kind.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					if got, err := c.ask(); err != nil || len(got) == 0 {
						b.Fatal(got, err)
					}
				}
			})
		}
	}
}

// BenchmarkReaders is how long readers take while names are added without pause,
// and how fast those are added while read.
func BenchmarkReaders(b *testing.B) {
	for _, readers := range []int{0, 1, 2} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			ix := build(b, million/4, fleet)
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			var reads atomic.Int64
			worst := make([][]time.Duration, readers)
			for r := range readers {
				wg.Go(func() {
					where := []Match{Metric("cpu.usage_user"), Tag("hostname", "host_4711", "host_4712")}
					for ctx.Err() == nil {
						begin := time.Now()
						if _, err := ix.Find(context.Background(), where); err != nil {
							b.Error(err)
						}
						worst[r] = append(worst[r], time.Since(begin))
						reads.Add(1)
					}
				})
			}
			var buf []byte
			i := million / 4
			for b.Loop() {
				buf = fleet(buf[:0], i)
				if _, _, err := ix.Add(buf); err != nil {
					b.Fatal(err)
				}
				i++
			}
			cancel()
			wg.Wait()
			if all := slices.Concat(worst...); len(all) > 0 {
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Nanoseconds()), "ns/find-p50")
				b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds()), "ns/find-p99")
				b.ReportMetric(float64(reads.Load())/b.Elapsed().Seconds(), "finds/s")
			}
		})
	}
}
