package names_test

import (
	"context"
	"fmt"

	"weir/series/names"
)

func Example() {
	ix := names.New()
	for _, name := range []string{"cpu host=a dc=x", "cpu host=b dc=x", "cpu host=c dc=y", "mem host=a dc=x"} {
		if _, _, err := ix.Add([]byte(name)); err != nil {
			fmt.Println(err)
		}
	}
	found, err := ix.Find(context.Background(), []names.Match{names.Metric("cpu"), names.Tag("host", "b", "x").Not()})
	if err != nil {
		fmt.Println(err)
	}
	for id := range found.All() {
		fmt.Println(id, ix.Name(id))
	}
	_, _, err = ix.Add([]byte("cpu host"))
	fmt.Println(err)
	// Output:
	// 0 cpu dc=x host=a
	// 2 cpu dc=y host=c
	// series name "cpu host", byte 4: a tag without '='
}
