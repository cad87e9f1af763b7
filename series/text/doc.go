// Package text reads points of series from text and writes them: RESP (the
// protocol of Akumuli), CSV, OpenTSDB put lines and the Influx line protocol.
//
// A [Reader] reads any of them in bounded memory, and hands out points in
// batches of [Row]s without allocating one:
//
//	in, _, err := text.Decompress(file) // gzip, zstd, bzip2 or none
//	r := text.NewReader(in, text.Options{})
//	for {
//		rows, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		... // err may be a *text.SyntaxError, which names the line
//		for i := range rows {
//			store.Append(rows[i].Name, rows[i].Time, rows[i].Value)
//		}
//	}
//
// Names are handed out as bytes that are cheap to compare with those seen
// last, and are not checked: who meets one for the first time asks
// names.Canonical, and [Reader.Refuse] says where a refused one stood. Where a
// text names a series once and refers to it later (dictionaries of RESP, columns
// of a CSV table), [Row.Ref] saves even the look at the bytes.
//
// Numbers are read as strconv reads them, to the nearest float64. Times are
// nanoseconds since 1970, UTC; those that a text gives in other units or as dates must
// fit an int64. [Append] writes what Reader reads back bit for bit, and
// refuses what a format has no words for.
//
// # What becomes a name
//
// A name of a series is a metric and tags, "cpu dc=x host=a".
//
//   - RESP: as it is. A compound name "cpu|mem host=a" is taken apart.
//   - Influx: cpu,host=a idle=1 is "cpu_idle host=a"; a field called value adds nothing
//     to the measurement's name. Booleans are 1 and 0, strings are events.
//   - OpenTSDB: metric and tags of the line.
//   - CSV: see [CSV].
//
// Series whose names begin with '!' are of events: their rows have a Text.
package text
