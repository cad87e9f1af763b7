// Package series is a time-series store: series of numbers and of texts under names with tags, compressed, durable,
// kept up to date while they are asked for.
//
//	st, err := series.Open(ctx, "data", series.Options{}) // a directory, made where there is none
//	defer st.Close()
//
//	w := st.Writer() // one a goroutine
//	id, err := w.Series("cpu dc=x host=a")
//	err = w.Add(id, time.Now().UnixNano(), 21.5)
//	err = w.Commit(ctx) // can be read now, and is as durable as Options.Sync asks
//
//	q, err := query.Parse([]byte(`{"aggregate": {"cpu": "max"}, "where": {"dc": "x"}}`))
//	rows, err := st.Query(ctx, q, query.Options{})
//	defer rows.Close()
//	for row, err := range rows.All() {
//		fmt.Println(row.Name, row.Values, err)
//	}
//
// A series is a sequence of points, each a time in nanoseconds since 1970 and a value. A series whose metric begins
// with "!" has texts in the place of values, and its points are events. Points may come in any order; those of one time
// are all kept, or only the last one: see Options.KeepLast.
//
// What is written goes to a log first, and from there, compressed and summed up, to volumes, which are written once and
// in order. If the program is killed, the next Open reads the log; what Commit confirmed is there, once. The parts are
// packages of their own: names, wal, tree, volume, codec, query.
package series
