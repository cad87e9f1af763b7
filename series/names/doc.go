// Package names knows the series of a store by name: it gives each name a
// number, finds the name of a number, and finds the series whose metric and
// tags are as asked.
//
// A name is a metric and tags, "cpu dc=x host=a", in canonical form (see
// Canonical). An Index holds a name not as text but as the numbers of its
// metric and of each key=value, whose texts it holds once; from these numbers
// come both the list of the series of each value and, where that is
// cheaper, the test of a single series.
//
//	ix := names.New()
//	id, _, err := ix.Add([]byte("cpu host=a dc=x"))
//	found, err := ix.Find(ctx, []names.Match{names.Metric("cpu"), names.Tag("host", "a", "b").Not()})
//	for id := range found.All() {
//		fmt.Println(ix.Name(id))
//	}
//
// A Store is an Index that outlives the program. One goroutine at a time
// changes an index (others wait for it); any number read it meanwhile, and none of
// them waits for more than a few lines of the writer's.
package names
