package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/internal/table"
	"weir/series"
	"weir/series/names"
	"weir/series/query"
	queryformat "weir/series/query/format"
	answers "weir/series/query/rows"
)

const seriesQueryHelp = `Ask a question about the series of a store, with flags or as JSON in the language of Akumuli, which knows more.

  --select METRIC                          the points
  --aggregate METRIC --func max            one value a series
  --group-aggregate METRIC --step 1h       values of each span of time
  --join METRIC,METRIC                     points of several metrics side by side
  --events '!METRIC'                       events
  --names [METRIC]                         names of series
  --suggest PREFIX                         metrics that begin so; with --metric, tags of one, with --tag too, their values

Functions are count, sum, mean, min, max, first, last, and min_timestamp and so on. A JSON query is the second
argument, or read from the file of a @name, or from standard input for -; of the flags only --format and --raw-times
go with it.`

// queryFlags are what a question is made of.
type queryFlags struct {
	metric    [6]string // by kind
	names     string
	suggest   string
	of, tag   string
	functions []string
	step      string
	where     whereFlag
	groupBy   []string
	pivotBy   []string
	bySeries  bool
	backward  bool
	limit     uint64
	offset    uint64
}

// questionFlags are the flags that say what is asked for.
var questionFlags = []struct {
	kind query.Kind
	name string
	help string
}{
	{query.Select, "select", "points of a `metric`"},
	{query.Aggregate, "aggregate", "one value a series of a `metric`, or of several, m1,m2"},
	{query.GroupAggregate, "group-aggregate", "values of each --step of a `metric`"},
	{query.Join, "join", "points of `metrics` side by side: m1,m2"},
	{query.GroupAggregateJoin, "group-aggregate-join", "a value of each --step of `metrics` side by side: m1,m2"},
	{query.SelectEvents, "events", "events of a `metric`, which begins with !"},
}

func (a *app) seriesQueryCommand() *cobra.Command {
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "query DIR [JSON | @FILE | -]",
		Short: "Ask a question",
		Long:  seriesQueryHelp,
		Example: `  weir series query data --select cpu --where host=a --from -1h
  weir series query data --group-aggregate cpu --step 1h --func mean,max --format csv
  weir series query data '{"aggregate": {"cpu": "max"}, "group-by-tag": ["host"]}'`,
		Args: cobra.RangeArgs(1, 2),
	}
	f := cmd.Flags()
	for i, k := range questionFlags {
		f.StringVar(&q.metric[i], k.name, "", k.help)
	}
	f.StringVar(&q.names, "names", "", "names of series, of one `metric` or of all")
	f.Lookup("names").NoOptDefVal = "*"
	f.StringVar(&q.suggest, "suggest", "", "what begins with a `prefix`")
	f.Lookup("suggest").NoOptDefVal = "*"
	f.StringVar(&q.of, "metric", "", "with --suggest: the tags of a `metric`")
	f.StringVar(&q.tag, "tag", "", "with --suggest and --metric: the values of a `tag`")
	f.StringSliceVar(&q.functions, "func", nil, "`functions` of aggregates (default mean)")
	f.StringVar(&q.step, "step", "", "a `span` of time such as 10s, 5m, 1h or 1d")
	f.Var(&q.where, "where", whereHelp)
	f.StringSliceVar(&q.groupBy, "group-by-tag", nil, "put together series that differ in these `tags`")
	f.StringSliceVar(&q.pivotBy, "pivot-by-tag", nil, "put together series that are the same in these `tags`")
	f.BoolVar(&q.bySeries, "by-series", false, "order by series, then by time")
	f.BoolVar(&q.backward, "backward", false, "latest first")
	f.Uint64Var(&q.limit, "limit", 0, "at most `n` rows")
	f.Uint64Var(&q.offset, "offset", 0, "leave out the first `n` rows")
	form := choose(word[string]{"auto", "auto"}, word[string]{"table", "table"}, word[string]{"csv", "csv"}, word[string]{"jsonl", "jsonl"}, word[string]{"resp", "resp"})
	addChoice(cmd, form, "format", "how to write the answer (auto: a table on a terminal, else CSV, or what the JSON says)")
	raw := f.Bool("raw-times", false, "times as nanoseconds since 1970")
	span := addTimeSpan(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if err := span.check(); err != nil {
			return err
		}
		rest := q.bare(args[1:])
		var ask asked
		var err error
		if len(rest) == 0 {
			ask, err = q.typed(span)
		} else if err = refuseFlags(cmd); err == nil {
			ask, err = a.parsed(ctx, rest[0])
		}
		if err != nil {
			return err
		}
		switch {
		case form.value == "auto" && a.json:
			form.value = "jsonl"
		case form.value == "auto" && a.onTerminal():
			form.value = "table"
		case form.value == "auto" && len(rest) == 0:
			form.value = "csv"
		}
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			return a.answer(ctx, st, ask, form.value, *raw)
		})
	})
	return cmd
}

// asked is a question: one of the two is set.
type asked struct {
	query   *query.Query
	suggest *query.Suggest

	alignSpans bool // the question has spans, and nobody says where the first one begins
}

// refuseFlags refuses the flags that say what a query as JSON says itself.
func refuseFlags(cmd *cobra.Command) error {
	said := []string{"names", "suggest", "metric", "tag", "func", "step", "where", "group-by-tag", "pivot-by-tag", "by-series", "backward", "limit", "offset", "from", "to"}
	for _, k := range questionFlags {
		said = append(said, k.name)
	}
	for _, name := range said {
		if cmd.Flags().Changed(name) {
			return usagef("--%s and a query as JSON; expected one of them", name)
		}
	}
	return nil
}

// bare takes an argument for the value of --names or --suggest, which do without one. It returns the others.
func (q *queryFlags) bare(args []string) []string {
	if len(args) == 0 || strings.ContainsAny(args[0][:min(1, len(args[0]))], "{@-") {
		return args
	}
	for _, value := range []*string{&q.names, &q.suggest} {
		if *value == "*" {
			*value = args[0]
			return nil
		}
	}
	return args
}

// parsed is a question as JSON, itself or where it is.
func (a *app) parsed(ctx context.Context, arg string) (asked, error) {
	text := []byte(arg)
	var err error
	if arg == "-" {
		text, err = await(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.stdin, 1<<20)) }, nil)
	} else if path, ok := strings.CutPrefix(arg, "@"); ok {
		text, err = await(ctx, func() ([]byte, error) { return os.ReadFile(path) }, nil)
	}
	if err != nil {
		return asked{}, fmt.Errorf("read the query: %w", err)
	}
	parsed, err := query.Parse(text)
	if err != nil {
		return asked{}, fmt.Errorf("the query: %w", err)
	}
	for _, name := range parsed.Unused {
		a.note("the filter of %q is of no column, and does nothing", name)
	}
	return asked{query: parsed}, nil
}

// given is the names of the flags that say what is asked for and are set.
func (q *queryFlags) given() (all []string) {
	for i, k := range questionFlags {
		if q.metric[i] != "" {
			all = append(all, k.name)
		}
	}
	if q.names != "" {
		all = append(all, "names")
	}
	if q.suggest != "" {
		all = append(all, "suggest")
	}
	return all
}

// typed makes the question that flags ask.
func (q *queryFlags) typed(span *timeSpan) (asked, error) {
	given := q.given()
	if len(given) != 1 {
		all := []string{}
		for _, k := range questionFlags {
			all = append(all, "--"+k.name)
		}
		if len(given) > 1 {
			all = []string{"--" + strings.Join(given, ", --")}
			return asked{}, usagef("%s: expected one of them", all[0])
		}
		return asked{}, usagef("no question; expected one of %s, --names, --suggest, or a query as JSON", strings.Join(all, ", "))
	}
	if q.suggest != "" {
		s := &query.Suggest{Metric: q.of, Tag: q.tag, Prefix: strings.TrimSuffix(q.suggest, "*"), Limit: int(min(q.limit, math.MaxInt32))}
		switch {
		case q.tag != "" && q.of == "":
			return asked{}, usagef("--tag without --metric; expected the metric whose tag it is")
		case q.tag != "":
			s.Target = query.TagValues
		case q.of != "":
			s.Target = query.TagNames
		}
		return asked{suggest: s}, nil
	}
	where, err := q.where.matches()
	if err != nil {
		return asked{}, err
	}
	out := &query.Query{Where: where, From: span.from.ns, To: span.to.ns, Backward: q.backward, Limit: q.limit, Offset: q.offset}
	if q.bySeries {
		out.Order = query.BySeries
	}
	if q.names != "" {
		out.Kind = query.Search
		if q.names != "*" {
			out.Metrics = []string{q.names}
		}
		return asked{query: out}, nil
	}
	for i, k := range questionFlags {
		if q.metric[i] != "" {
			out.Kind, out.Metrics = k.kind, strings.Split(q.metric[i], ",")
		}
	}
	err = q.complete(out, given[0])
	return asked{query: out, alignSpans: out.Step > 0 && !span.from.set}, err
}

// complete sets what only some questions have, and refuses what they have not.
func (q *queryFlags) complete(out *query.Query, name string) error {
	several := out.Kind == query.Aggregate || out.Kind == query.Join || out.Kind == query.GroupAggregateJoin
	switch {
	case !several && len(out.Metrics) > 1:
		return usagef("--%s: %q; expected one metric", name, strings.Join(out.Metrics, ","))
	case (out.Kind == query.Join || out.Kind == query.GroupAggregateJoin) && len(out.Metrics) < 2:
		return usagef("--%s: %q; expected two metrics or more, m1,m2", name, out.Metrics[0])
	case len(q.groupBy) > 0 && len(q.pivotBy) > 0:
		return usagef("--group-by-tag and --pivot-by-tag: expected one of them")
	}
	for _, m := range out.Metrics {
		if m == "" || strings.HasPrefix(m, "!") != (out.Kind == query.SelectEvents) {
			return usagef("--%s: the metric %q; those of events begin with !, others do not", name, m)
		}
	}
	if len(q.groupBy) > 0 {
		out.Group = query.Grouping{Keys: q.groupBy}
	} else if len(q.pivotBy) > 0 {
		out.Group = query.Grouping{Keys: q.pivotBy, Keep: true}
	}
	stepped := out.Kind == query.GroupAggregate || out.Kind == query.GroupAggregateJoin
	switch {
	case stepped && q.step == "":
		return usagef("--%s without --step; expected a span of time such as 10s, 5m, 1h or 1d", name)
	case !stepped && q.step != "":
		return usagef("--step: the question --%s has none", name)
	}
	if stepped {
		var ok bool
		if out.Step, ok = queryformat.ParseDuration(q.step); !ok || out.Step <= 0 {
			return usagef("--step: %q; expected a span of time such as 10s, 5m, 1h or 1d", q.step)
		}
	}
	if !stepped && out.Kind != query.Aggregate {
		if len(q.functions) > 0 {
			return usagef("--func: the question --%s has no functions", name)
		}
		return nil
	}
	return q.parseFunctions(out)
}

func (q *queryFlags) parseFunctions(out *query.Query) error {
	words := q.functions
	if len(words) == 0 {
		words = []string{"mean"}
	}
	for _, word := range words {
		fn, ok := query.ParseFunction(word)
		if !ok {
			return usagef("--func: %q; expected count, sum, mean, min, max, first, last, or one of these with _timestamp", word)
		}
		out.Functions = append(out.Functions, fn)
	}
	switch {
	case out.Kind == query.Aggregate && len(out.Functions) == 1:
		for len(out.Functions) < len(out.Metrics) {
			out.Functions = append(out.Functions, out.Functions[0])
		}
	case out.Kind == query.Aggregate && len(out.Metrics) == 1:
		for len(out.Metrics) < len(out.Functions) {
			out.Metrics = append(out.Metrics, out.Metrics[0])
		}
	case out.Kind == query.Aggregate && len(out.Functions) != len(out.Metrics):
		return usagef("--func: %d functions for %d metrics; expected one, or one for each", len(out.Functions), len(out.Metrics))
	case out.Kind == query.GroupAggregateJoin && len(out.Functions) > 1:
		return usagef("--func: %d functions; --group-aggregate-join has one", len(out.Functions))
	}
	return nil
}

// answer runs a question and writes what comes.
func (a *app) answer(ctx context.Context, st *series.Store, ask asked, form string, raw bool) error {
	o := query.Options{Memory: int64(a.memory), Workers: a.threads}
	forms := map[string]queryformat.Format{"csv": queryformat.CSV, "jsonl": queryformat.JSONL, "resp": queryformat.RESP}
	out := &query.Query{}
	if ask.query != nil {
		out = ask.query
	}
	if f, ok := forms[form]; ok {
		out.Output.Format = f
	}
	out.Output.Raw = out.Output.Raw || raw
	var answer *query.Rows
	var err error
	if ask.alignSpans {
		if err := align(ctx, st, out); err != nil {
			return err
		}
	}
	if ask.suggest != nil {
		ask.suggest.Output = out.Output
		answer, err = ask.suggest.Run(ctx, st.Names())
	} else {
		answer, err = st.Query(ctx, ask.query, o)
	}
	if err != nil {
		return explain(err, out)
	}
	defer answer.Close()
	if form == "table" {
		first := "series"
		if ask.suggest != nil {
			first = suggested[ask.suggest.Target]
		}
		return a.answerTable(answer, out, first, raw)
	}
	_, err = answer.WriteTo(a.stdout)
	return err
}

// explain says of errors that are short in the protocol of Akumuli what they are about.
func explain(err error, q *query.Query) error {
	switch {
	case errors.Is(err, query.ErrNotFound):
		about := ""
		if len(q.Where) > 0 {
			about = " that meet the conditions"
		}
		metrics := q.Metrics
		if q.Kind == query.Join || q.Kind == query.GroupAggregateJoin {
			metrics = metrics[:1] // whose series they are
		}
		return fmt.Errorf("no series of %s%s: %w; --suggest lists metrics, --names series", strings.Join(metrics, ", "), about, err)
	case errors.Is(err, query.ErrGroup) && q.Group.Keep:
		return fmt.Errorf("%w: none has a tag %s", err, strings.Join(q.Group.Keys, ", "))
	case errors.Is(err, query.ErrGroup):
		return fmt.Errorf("%w: none has a tag besides %s; --pivot-by-tag keeps these, and leaves out the others", err, strings.Join(q.Group.Keys, ", "))
	}
	return err
}

// align makes the first span begin at a whole number of them since 1970, before the first point.
func align(ctx context.Context, st *series.Store, q *query.Query) error {
	found, err := st.Names().Find(ctx, append([]names.Match{names.Metric(q.Metrics...)}, q.Where...))
	if err != nil {
		return err
	}
	first := q.To
	for id := range found.All() {
		total, err := st.Aggregate(ctx, id, q.From, q.To)
		if err != nil {
			return err
		}
		if total.Count > 0 {
			first = min(first, total.FirstTime)
		}
	}
	if rest := first % q.Step; rest >= 0 {
		q.From = first - rest
	} else if first-rest >= math.MinInt64+q.Step {
		q.From = first - rest - q.Step
	}
	return nil
}

// tableRows is how many rows of an answer a table has at most: it is all in memory before it is written.
const tableRows = 10_000

// suggested is what suggestions are.
var suggested = map[query.Target]string{query.MetricNames: "metric", query.TagNames: "tag", query.TagValues: "value"}

func (a *app) answerTable(answer *query.Rows, q *query.Query, first string, raw bool) error {
	columns := []table.Column{table.Left(first)}
	shape := answer.Shape()
	if shape != answers.Names {
		columns = append(columns, table.Left("time"))
	}
	var t *table.Table
	n := 0
	for row, err := range answer.All() {
		if err != nil {
			return err
		}
		if t == nil {
			t = table.New(append(columns, valueColumns(shape, q, len(row.Values))...)...)
		}
		if n++; n > tableRows {
			break
		}
		t.Row(cells(shape, row, raw)...)
	}
	if t == nil {
		a.note("nothing found")
		return nil
	}
	if err := t.WriteText(a.stdout); err != nil {
		return err
	}
	if n > tableRows {
		a.note("and more: a table has %s rows at most; --format csv writes all", humanize.Comma(tableRows))
	}
	return nil
}

func valueColumns(shape answers.Shape, q *query.Query, width int) (columns []table.Column) {
	if shape == answers.Text {
		return []table.Column{table.Left("event")}
	}
	titles := make([]string, width)
	for i := range titles {
		titles[i] = "value"
		switch {
		case q.Kind == query.GroupAggregate && i < len(q.Functions):
			titles[i] = q.Functions[i].String()
		case (q.Kind == query.Join || q.Kind == query.GroupAggregateJoin) && i < len(q.Metrics):
			titles[i] = q.Metrics[i]
		}
	}
	for _, title := range titles {
		columns = append(columns, table.Left(title))
	}
	return columns
}

func cells(shape answers.Shape, row query.Row, raw bool) []any {
	all := []any{row.Name}
	if shape == answers.Names {
		return all
	}
	if raw {
		all = append(all, fmt.Sprint(row.Time))
	} else {
		all = append(all, time.Unix(0, row.Time).UTC().Format("2006-01-02 15:04:05.999999999"))
	}
	if shape == answers.Text {
		return append(all, row.Text)
	}
	for i, v := range row.Values {
		if row.Missing>>i&1 == 1 {
			all = append(all, "")
		} else {
			all = append(all, table.Thousands(shortest(v)))
		}
	}
	return all
}

// shortest is a number with as few digits as tell it from others.
func shortest(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
		return fmt.Sprintf("%g", v)
	}
	return humanize.Ftoa(v)
}
