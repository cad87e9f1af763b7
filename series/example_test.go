package series_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"weir/series"
	"weir/series/query"
)

// Open a store, write points, and ask for them.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "series")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	st, err := series.Open(ctx, dir, series.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()

	w := st.Writer()
	id, err := w.Series("cpu host=a")
	if err != nil {
		log.Fatal(err)
	}
	begin := time.Date(2017, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	for i := range 3 {
		w.Add(id, begin+int64(i)*int64(time.Second), 20+float64(i)/2) // what goes wrong Commit tells too
	}
	if err := w.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	show(ctx, st, `{"select": "cpu", "range": {"from": "20170102T030405", "to": "20170102T030407"}}`) // but not "to" itself

	// Output:
	// cpu host=a 03:04:05 [20]
	// cpu host=a 03:04:06 [20.5]
}

// One value a series, from sums that are kept with the points.
func ExampleStore_Query_aggregate() {
	ctx := context.Background()
	st, remove := figures(ctx)
	defer remove()
	show(ctx, st, `{"aggregate": {"cpu": "max"}, "where": {"host": ["a", "b"]}}`)

	// Output:
	// cpu:max host=a 03:59:00 [59]
	// cpu:max host=b 03:59:00 [159]
}

// Values of each span of time. Package query has a type for what is JSON here.
func ExampleStore_Query_groupAggregate() {
	ctx := context.Background()
	st, remove := figures(ctx)
	defer remove()
	show(ctx, st, `{"group-aggregate": {"metric": "cpu", "step": "30m", "func": ["min", "mean"]}, "where": {"host": "a"},
		"range": {"from": "20170102T030000", "to": "20170102T040000"}}`)

	// Output:
	// cpu:min|cpu:mean host=a 03:00:00 [0 14.5]
	// cpu:min|cpu:mean host=a 03:30:00 [30 44.5]
}

// show asks a question and prints the answer.
func show(ctx context.Context, st *series.Store, question string) {
	q, err := query.Parse([]byte(question))
	if err != nil {
		log.Fatal(err)
	}
	rows, err := st.Query(ctx, q, query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Name, time.Unix(0, row.Time).UTC().Format(time.TimeOnly), row.Values)
	}
}

// figures is a store of two series, with a point a minute for an hour, and what removes it.
func figures(ctx context.Context) (st *series.Store, remove func()) {
	dir, err := os.MkdirTemp("", "series")
	if err != nil {
		log.Fatal(err)
	}
	st, err = series.Open(ctx, dir, series.Options{})
	if err != nil {
		log.Fatal(err)
	}
	w := st.Writer()
	begin := time.Date(2017, 1, 2, 3, 0, 0, 0, time.UTC)
	for i, host := range []string{"a", "b"} {
		id, err := w.Series("cpu host=" + host)
		if err != nil {
			log.Fatal(err)
		}
		for minute := range 60 {
			w.Add(id, begin.Add(time.Duration(minute)*time.Minute).UnixNano(), float64(100*i+minute))
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return st, func() {
		st.Close()
		os.RemoveAll(dir)
	}
}
