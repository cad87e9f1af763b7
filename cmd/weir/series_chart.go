package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"weir/internal/chart"
	"weir/internal/plot"
	"weir/series"
	"weir/series/names"
	"weir/series/query"
)

// chartSeries is how many series are drawn at most: more are not told apart.
const chartSeries = 8

// chartBins is how many spans a drawing as SVG has.
const chartBins = 600

func (a *app) seriesChartCommand() *cobra.Command {
	var where whereFlag
	cmd := &cobra.Command{
		Use:   "chart DIR",
		Short: "Draw series in the terminal, or as SVG",
		Long: `Draw the series of a metric: for each column the band from the least value to the greatest, and the mean
in it. However long the series are, only sums are read that are kept with them. At most 8 series are drawn.`,
		Example: `  weir series chart data --metric cpu
  weir series chart data --metric cpu --where host=b --from 2017-01-02 --svg cpu.svg`,
		Args: cobra.ExactArgs(1),
	}
	metric := cmd.Flags().String("metric", "", "the `metric`")
	cmd.Flags().Var(&where, "where", whereHelp)
	svg := cmd.Flags().String("svg", "", "draw to a `file` instead, .svg or .png")
	width := cmd.Flags().Int("width", 0, "`columns` of the drawing (default those of the terminal, or 80)")
	height := cmd.Flags().Int("height", 16, "`rows` of the drawing")
	ascii := cmd.Flags().Bool("ascii", false, "nothing but ASCII")
	span := addTimeSpan(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if *metric == "" {
			return usagef("expected --metric")
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
			if *svg == "" {
				if *width == 0 {
					*width = a.columns()
				}
				d.bins = 2 * *width // dots are half as wide as columns
			}
			if err := d.read(ctx, append(matches, names.Metric(*metric)), *metric); err != nil {
				return err
			}
			if *svg != "" {
				return d.save(*svg, *metric)
			}
			color := a.onTerminal() && os.Getenv("NO_COLOR") == ""
			return chart.Text(a.stdout, d.series, chart.Options{Width: *width, Height: *height, ASCII: *ascii, Color: color})
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
	from, to int64
	bins     int
	series   []chart.Series
}

// read finds the series, and when there are points of them in the range, and sums them up span by span.
func (d *drawing) read(ctx context.Context, matches []names.Match, metric string) error {
	found, err := d.st.Names().Find(ctx, matches)
	if err != nil {
		return err
	}
	var ids []names.ID
	others := 0
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
			others++
			continue
		}
		ids = append(ids, id)
		first, last = min(first, total.FirstTime), max(last, total.LastTime)
	}
	if len(ids) == 0 {
		return fmt.Errorf("nothing to draw: no points of %q there", metric)
	}
	if others > 0 {
		d.a.note("%d series are drawn, and %d others not; --where chooses", len(ids), others)
	}
	step := int64((uint64(last)-uint64(first))/uint64(d.bins)) + 1
	for _, id := range ids {
		s := chart.Series{Name: strings.TrimPrefix(d.st.Names().Name(id), metric+" "), Step: step}
		if s.Bins, err = d.groups(ctx, id, first, last, step); err != nil {
			return err
		}
		d.series = append(d.series, s)
	}
	return nil
}

func (d *drawing) groups(ctx context.Context, id names.ID, first, last, step int64) (bins []chart.Bin, err error) {
	r, err := d.st.Groups(ctx, id, first, last, step, false)
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
