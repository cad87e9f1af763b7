package names

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/internal/sharedata"
)

// latin1 is the bytes of a recorded text.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(sharedata.Path(t, "akumuli-golden/"+name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// talk adds the names of a conversation in RESP until something is in no order,
// and returns the first error of a name.
func talk(t *testing.T, ix *Index, send string) error {
	t.Helper()
	lines := strings.SplitAfter(send, "\n")
	next := func() string {
		if len(lines) == 0 {
			return ""
		}
		line := strings.TrimRight(lines[0], "\r\n")
		lines = lines[1:]
		return line
	}
	array := func(line string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(line, "*"))
		return n
	}
	add := func(name string) error {
		columns, err := Columns([]byte(name))
		for _, c := range columns {
			if _, _, err := ix.Add([]byte(c)); err != nil {
				t.Errorf("column %q of %q: %v", c, name, err)
			}
		}
		return err
	}
	for strings.HasPrefix(lines[0], "*") { // dictionaries come first
		n := array(next())
		if n%2 != 0 {
			return nil
		}
		for range n / 2 {
			if err := add(strings.TrimPrefix(next(), "+")); err != nil {
				return err
			}
			next()
		}
	}
	for len(lines) > 0 {
		line := next()
		switch {
		case strings.HasPrefix(line, "+"):
			if len(line)+1 > 1024 {
				return nil // more than a line of the protocol holds
			}
			if err := add(line[1:]); err != nil {
				return err
			}
		case !strings.HasPrefix(line, ":"):
			return nil
		}
		next()
		if value := next(); strings.HasPrefix(value, "*") {
			for range array(value) {
				next()
			}
		}
	}
	return nil
}

// TestGolden holds names, searches and suggestions against what Akumuli 0.8.80
// answered after the same conversations.
func TestGolden(t *testing.T) {
	var ingest struct {
		Conversations []struct{ Name, Port, Send, Recv string }
	}
	readGolden(t, "ingest.json", &ingest)
	// Where that program is at fault, this is what is done instead.
	refused := map[string]string{"dup tags": "second tag", "row empty metric": "empty metric", "33 tags": "more than 32"}
	ix := New()
	for _, c := range ingest.Conversations {
		if c.Port != "RESP" {
			continue
		}
		err := talk(t, ix, latin1(c.Send))
		reason := refused[c.Name]
		unknownID := strings.HasPrefix(c.Name, "dict unknown") || c.Name == "dict no dict"
		if reason == "" && strings.Contains(c.Recv, "invalid series name format") && !unknownID {
			reason = "byte "
		}
		if (err != nil) != (reason != "") || err != nil && !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: error %v, want %q; the answer was %.60q", c.Name, err, reason, c.Recv)
		}
	}

	var queries struct {
		Requests []struct{ Name, Body, Resp string }
	}
	readGolden(t, "queries.json", &queries)
	answers := map[string][]string{}
	for _, r := range queries.Requests {
		lines := strings.Split(latin1(r.Resp), "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(strings.TrimSuffix(lines[i], "\r"), "+")
		}
		answers[r.Name] = lines[:len(lines)-1]
	}
	find := func(backward bool, where ...Match) (names []string) {
		set, err := ix.Find(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		ids := set.All()
		if backward {
			ids = set.Backward()
		}
		for id := range ids {
			names = append(names, ix.Name(id))
		}
		return names
	}
	hold := func(name string, got []string) {
		t.Helper()
		if !slices.Equal(got, answers[name]) {
			t.Errorf("%s: got %q, want %q", name, got, answers[name])
		}
	}
	all := append(find(true, MetricPrefix("!")), find(false, MetricPrefix("!").Not())...)
	// Without what other listeners took, and what is refused here.
	want := slices.DeleteFunc(slices.Clone(answers["search all"]), func(name string) bool {
		metric, of := Split(name)
		return strings.HasPrefix(strings.TrimPrefix(metric, "!"), "t.") || metric == "dup" || metric == "r9" || metric == "u1" || len(of) == MaxTags
	})
	// The order of a compound's columns in a dictionary is that program's hash table's.
	if got := slices.Clone(all); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		missing, extra := difference(want, got), difference(got, want)
		t.Errorf("search all: lacks %q, has also %q", missing, extra)
	}
	hold("meta metric", find(false, Metric("cpu")))
	hold("meta limit", find(false, Metric("cpu"))[:2])
	hold("search where", find(false, Metric("cpu"), Tag("host", "a")))
	hold("search none", find(false, Metric("nope")))

	suggest := func(name string, got []string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		slices.Sort(answers[name]) // recorded in the order of a hash table
		hold(name, got)
	}
	got, err := ix.Metrics(t.Context(), "c", 0)
	suggest("suggest metric prefix", got, err)
	got, err = ix.Keys(t.Context(), "cpu", "h", 0)
	suggest("suggest tags prefix csv", got, err)
	got, err = ix.Values(t.Context(), "cpu", "host", "a", 0)
	suggest("suggest values prefix", got, err)
}

func difference(a, b []string) []string {
	of := map[string]bool{}
	for _, s := range a {
		of[s] = true
	}
	for _, s := range b {
		delete(of, s)
	}
	return slices.Sorted(maps.Keys(of))
}
