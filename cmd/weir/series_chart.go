package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"weir/internal/chart"
	"weir/internal/plot"
	"weir/internal/table"
	"weir/series"
	"weir/series/names"
	"weir/series/query"
)

// chartSeries is how many series are drawn at most: more are not told apart.
const chartSeries = 8

// chartBins is how many spans a drawing as SVG has.
const chartBins = 600

// chartStep is the shortest span, in ns: what is closer is not told apart by numbers with a point.
const chartStep = 2048

// chartResult is what chart prints as JSON.
type chartResult struct {
	Metric string       `json:"metric"`
	From   string       `json:"from"`
	To     string       `json:"to"`
	Step   float64      `json:"step_seconds"`
	Series []chartSpans `json:"series"`
	Others int          `json:"series_left_out"`
}

type chartSpans struct {
	Name  string      `json:"name"`
	Spans []chartSpan `json:"spans"`
}

type chartSpan struct {
	Time string   `json:"time"` // when it begins
	Min  *float64 `json:"min"`
	Mean *float64 `json:"mean"`
	Max  *float64 `json:"max"`
}

func (a *app) seriesChartCommand() *cobra.Command {
	var where whereFlag
	cmd := &cobra.Command{
		Use:   "chart DIR",
		Short: "Draw series in the terminal, or as SVG",
		Long: `Draw the series of a metric: for each column the band from the least value to the greatest, and the mean
in it. However long the series are, only sums are read that are kept with them. At most 8 series are drawn. What does
not go to a terminal is ASCII. With --json it is not drawn: the numbers are printed, of up to 600 spans.`,
		Example: `  weir series chart data --metric cpu
  weir series chart data --metric cpu --where host=b --from 2017-01-02 --svg cpu.svg`,
		Args: cobra.ExactArgs(1),
	}
	metric := cmd.Flags().String("metric", "", "the `metric`")
	cmd.Flags().Var(&where, "where", whereHelp)
	svg := cmd.Flags().String("svg", "", "draw to a `file` instead, .svg or .png")
	width := cmd.Flags().Int("width", 0, "`columns` of the drawing (default those of the terminal, or 80)")
	height := cmd.Flags().Int("height", 16, "`rows` of the drawing")
	ascii := cmd.Flags().Bool("ascii", false, "nothing but ASCII (default unless it goes to a terminal)")
	span := addTimeSpan(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if *metric == "" {
			return usagef("expected --metric")
		}
		if strings.HasPrefix(*metric, "!") {
			return usagef("--metric: %q; events are no numbers, \"weir series query --events\" shows them", *metric)
		}
		if *width < 0 || *width > 10_000 || *height < 2 || *height > 1000 {
			return usagef("--width %d, --height %d; expected up to 10000 columns and 2 to 1000 rows", *width, *height)
		}
		matches, err := where.matches()
		if err != nil {
			return err
		}
		if err := span.check(); err != nil {
			return err
		}
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			d := drawing{a: a, st: st, from: span.from.ns, to: span.to.ns, bins: chartBins}
			if *svg == "" && !a.json {
				if *width == 0 {
					*width = a.columns()
				}
				d.bins = 2 * *width // dots are half as wide as columns
			}
			if err := d.read(ctx, append(matches, names.Metric(*metric)), *metric); err != nil {
				return err
			}
			if *svg != "" {
				if err := d.save(*svg, *metric); err != nil {
					return err
				}
			}
			switch {
			case a.json:
				return a.printJSON(d.result(*metric))
			case *svg != "":
				return nil
			}
			d.title(*metric)
			terminal := a.onTerminal()
			return chart.Text(a.stdout, d.series, chart.Options{
				Width: *width, Height: *height, ASCII: *ascii || !terminal && !cmd.Flags().Changed("ascii"), Color: terminal && os.Getenv("NO_COLOR") == "",
			})
		})
	})
	return cmd
}

// columns is how wide the terminal is.
func (a *app) columns() int {
	if file, ok := a.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w >= 20 {
			return w
		}
	}
	return 80
}

// drawing is series to draw, in spans of time.
type drawing struct {
	a        *app
	st       *series.Store
	from, to int64 // asked for; behind read, when there are points
	bins     int
	step     int64
	series   []chart.Series
	others   int // series that are not drawn
}

// read finds the series, and when there are points of them in the range, and sums them up span by span.
func (d *drawing) read(ctx context.Context, matches []names.Match, metric string) error {
	found, err := d.st.Names().Find(ctx, matches)
	if err != nil {
		return err
	}
	var ids []names.ID
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for id := range found.All() {
		total, err := d.st.Aggregate(ctx, id, d.from, d.to)
		if err != nil {
			return err
		}
		if total.Count == 0 {
			continue
		}
		if len(ids) == chartSeries {
			d.others++
			continue
		}
		ids = append(ids, id)
		first, last = min(first, total.FirstTime), max(last, total.LastTime)
	}
	if len(ids) == 0 {
		return fmt.Errorf("nothing to draw: no points of %q there", metric)
	}
	if d.others > 0 {
		d.a.note("%d series are drawn, and %s others not; --where chooses", len(ids), humanize.Comma(int64(d.others)))
	}
	d.from, d.to = first, last
	d.step = max(int64((uint64(last)-uint64(first))/uint64(d.bins))+1, chartStep)
	for _, id := range ids {
		s := chart.Series{Name: strings.TrimPrefix(d.st.Names().Name(id), metric+" ")}
		if s.Bins, err = d.groups(ctx, id); err != nil {
			return err
		}
		s.Step = usualStep(s.Bins, d.step)
		d.series = append(d.series, s)
	}
	return nil
}

// usualStep is the step of a line through bins: that of the bins, or more where there are fewer points than bins, so that
// they are a line as well, with gaps where more of them are missing.
func usualStep(bins []chart.Bin, step int64) int64 {
	var apart []uint64
	for i := 1; i < len(bins); i++ {
		apart = append(apart, uint64(bins[i].Time)-uint64(bins[i-1].Time))
	}
	slices.Sort(apart)
	if len(apart) == 0 || apart[len(apart)/2] <= uint64(step) {
		return step
	}
	return 2 * int64(min(apart[len(apart)/2], math.MaxInt64/2))
}

func (d *drawing) groups(ctx context.Context, id names.ID) (bins []chart.Bin, err error) {
	r, err := d.st.Groups(ctx, id, d.from, d.to, d.step, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	groups := make([]query.Group, 256)
	for n := len(groups); n == len(groups); {
		if n, err = r.Next(groups); err != nil {
			return nil, err
		}
		for _, g := range groups[:n] {
			bins = append(bins, chart.Bin{Time: g.Time, Min: g.Min, Max: g.Max, Mean: g.Mean()})
		}
	}
	return bins, nil
}

// title says what is drawn, and of when.
func (d *drawing) title(metric string) {
	const layout = "2006-01-02 15:04:05"
	from, to := time.Unix(0, d.from).UTC().Format(layout), time.Unix(0, d.to).UTC().Format(layout)
	fmt.Fprintf(d.a.stdout, "%s, %s to %s UTC\n", table.Printable(metric), from, to)
}

func (d *drawing) result(metric string) chartResult {
	at := func(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
	number := func(v float64) *float64 { // JSON has no words for some
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	r := chartResult{metric, at(d.from), at(d.to), time.Duration(d.step).Seconds(), []chartSpans{}, d.others}
	for _, s := range d.series {
		spans := chartSpans{Name: s.Name}
		for _, b := range s.Bins {
			spans.Spans = append(spans.Spans, chartSpan{at(b.Time), number(b.Min), number(b.Mean), number(b.Max)})
		}
		r.Series = append(r.Series, spans)
	}
	return r
}

func (d *drawing) save(path, metric string) error {
	c, err := chart.Figure(plot.Figure{Title: metric}, metric, d.series)
	if err != nil {
		return err
	}
	if err := c.Save(path); err != nil {
		return err
	}
	d.a.note("drawn to %s", path)
	return nil
}
