// Package query is the language in which series are asked for: points, aggregates, joins, events and names, filtered,
// grouped, ordered, computed with, and written.
//
// A Query is a value, made by hand or by Parse from the JSON of the original protocol. Run answers it from any Source,
// reading series on all cores and in bounded memory; the answer comes in batches of rows, or as text:
//
//	q, err := query.Parse([]byte(`{"select": "cpu", "range": {"from": "20170101T000000", "to": "20170102T000000"},
//		"where": {"host": ["a", "b"]}, "output": {"format": "csv"}}`))
//	answer, err := query.Run(ctx, store, q, query.Options{})
//	defer answer.Close()
//	_, err = answer.WriteTo(os.Stdout)
//
// Beyond the original, where also knows {"tag": {"not": …}}, {"prefix": …}, {"regexp": …} and {"has": true}, and output
// the format jsonl. Functions of apply run one after the other, before offset and limit.
package query
