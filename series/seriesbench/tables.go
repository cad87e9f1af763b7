package seriesbench

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"weir/internal/plot"
	"weir/internal/table"
)

// IngestTable shows what writing cost.
func IngestTable(runs []Run) *table.Table {
	t := table.New(table.Right("series"), table.Right("threads"), table.Left("log"), table.Right("M points/s").Decimals(2),
		table.Right("M/s a core").Decimals(2), table.Right("until closed, M/s").Decimals(2), table.Right("bytes a point").Decimals(2),
		table.Right("volumes alone").Decimals(2), table.Right("written to volumes, ×").Decimals(2), table.Right("written in all, bytes a point").Decimals(1))
	for _, r := range runs {
		var core any
		if r.Processor > 0 {
			core = r.CoreRate() / 1e6
		}
		t.Row(r.Series, r.Threads, logName(r.Log), r.Rate()/1e6, core, r.ClosedRate()/1e6, r.BytesPerPoint(), r.VolumeBytesPerPoint(), r.Amplification(), float64(r.Written)/float64(r.Points))
	}
	return t
}

func logName(log bool) string {
	if log {
		return "yes"
	}
	return "no"
}

// IngestChart draws points a second by threads.
func IngestChart(runs []Run, source string) (*plot.Chart, error) {
	var lines []plot.Series
	var ticks []plot.Tick
	for _, r := range runs {
		name := humanize.Comma(int64(r.Series)) + " series, no log"
		if r.Log {
			name = humanize.Comma(int64(r.Series)) + " series, log"
		}
		at := slices.IndexFunc(lines, func(l plot.Series) bool { return l.Name == name })
		if at < 0 {
			at = len(lines)
			lines = append(lines, plot.Series{Name: name, Dashed: !r.Log})
		}
		lines[at].Points = append(lines[at].Points, plot.Point{X: float64(r.Threads), Y: r.Rate() / 1e6})
		if !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return t.Value == float64(r.Threads) }) {
			ticks = append(ticks, plot.Tick{Value: float64(r.Threads), Label: fmt.Sprint(r.Threads)})
		}
	}
	for _, l := range lines {
		slices.SortFunc(l.Points, func(a, b plot.Point) int { return int(a.X - b.X) })
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int { return int(a.Value - b.Value) })
	least, most := ticks[0].Value, ticks[len(ticks)-1].Value
	return plot.Lines(plot.Figure{
		Title: "Points written a second", Subtitle: "until committed; each thread writes series of its own, a commit every 1,000 points; more is better", Source: source,
	}, plot.Axis{Title: "threads", Min: least - 0.25, Max: most + 0.25, Ticks: ticks}, plot.Axis{Title: "million points a second"}, lines)
}

// ReadTable shows how long questions took.
func ReadTable(reads []Read) *table.Table {
	t := table.New(table.Right("series"), table.Right("points each"), table.Left("question"), table.Left("cores"), table.Right("ms"),
		table.Right("processor ms"), table.Right("rows or points"), table.Right("M of them/s"), table.Right("nodes read when first asked"))
	for _, r := range reads {
		cores := "all"
		if r.Cores > 0 {
			cores = fmt.Sprint(r.Cores)
		}
		var processor, rate any
		if r.Processor > 0 {
			processor = 1e3 * r.Processor
		}
		if r.Answered > manyRows {
			rate = r.Rate() / 1e6
		}
		t.Row(r.Series, r.Points/r.Series, r.What, cores, 1e3*r.Seconds, processor, r.Answered, rate, r.NodeReads)
	}
	return t
}

// manyRows is from where on a rate means something.
const manyRows = 1000

// LifeTable shows what many series cost.
func LifeTable(lives []Life) *table.Table {
	t := table.New(table.Right("series"), table.Right("points each"), table.Right("M names/s").Decimals(2), table.Right("M points/s").Decimals(2), table.Right("memory, MiB").Decimals(0),
		table.Right("bytes a series").Decimals(0), table.Right("close, s").Decimals(2), table.Right("start, s").Decimals(2), table.Right("memory then, MiB").Decimals(0),
		table.Right("bytes a point").Decimals(2))
	for _, l := range lives {
		t.Row(l.Series, l.Points/l.Series, float64(l.Series)/l.Name/1e6, float64(l.Points)/l.Write/1e6, float64(l.Memory)/(1<<20), l.MemoryPerSeries(),
			l.Close, l.Start, float64(l.StartMemory)/(1<<20), float64(l.Bytes)/float64(l.Points))
	}
	return t
}

// RecoveryTable shows how long the start takes after a kill.
func RecoveryTable(all []Recovery) *table.Table {
	t := table.New(table.Right("series"), table.Right("points"), table.Right("read from the log"), table.Right("log, MB").Decimals(0), table.Right("s").Decimals(2),
		table.Right("M points of log/s").Decimals(2))
	for _, r := range all {
		t.Row(r.Series, r.Points, r.Entries, float64(r.LogBytes)/1e6, r.Seconds, r.Rate()/1e6)
	}
	return t
}

// SizeTable shows bytes a point by kind, for times that are not exact and for times that are.
func SizeTable(sizes []Size) *table.Table {
	t := table.New(table.Left("kind"), table.Right("series"), table.Right("points each"), table.Right("bytes a point, ±5 ms").Decimals(3), table.Right("exact times").Decimals(3))
	for _, z := range sizes {
		if z.Jitter == 0 {
			continue
		}
		var exact any
		if at := slices.IndexFunc(sizes, func(o Size) bool { return o.Kind == z.Kind && o.Jitter == 0 }); at >= 0 {
			exact = sizes[at].BytesPerPoint()
		}
		t.Row(z.Kind, z.Series, z.Points/z.Series, z.BytesPerPoint(), exact)
	}
	return t
}
