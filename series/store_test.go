package series

import (
	"context"
	"fmt"
	"testing"

	"weir/series/names"
	"weir/series/query"
)

func mustOpen(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	if o.OnProblem == nil {
		o.OnProblem = func(err error) { t.Error(err) }
	}
	s, err := Open(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask is the rows of an answer.
func ask(t testing.TB, s *Store, json string) (rows []string) {
	t.Helper()
	q, err := query.Parse([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Query(context.Background(), q, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range answer.All() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprint(row.Name, " ", row.Time, " ", row.Values, row.Text))
	}
	return rows
}

func TestStore(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	w := s.Writer()
	for i := range int64(5000) {
		for _, host := range []string{"a", "b"} {
			id, err := w.Series("cpu host=" + host)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Add(id, i, float64(i%100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	id, err := w.Series("!boot host=a")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddEvent(id, 7, []byte("up")); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if got := ask(t, s, `{"aggregate": {"cpu": "sum"}}`); fmt.Sprint(got) != "[cpu:sum host=a 4999 [247500] cpu:sum host=b 4999 [247500]]" {
			t.Errorf("sums: %q", got)
		}
		if got := ask(t, s, `{"select-events": "!boot", "range": {"from": 0, "to": 10}}`); fmt.Sprint(got) != "[!boot host=a 7 []up]" {
			t.Errorf("events: %q", got)
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, Options{})
	if r := s.Recovery(); !r.Clean {
		t.Errorf("not clean: %+v", r)
	}
	check()
	if n, err := s.DropSeries(ctx, []names.Match{names.Tag("host", "b")}); err != nil || n != 1 {
		t.Errorf("dropped %d, %v", n, err)
	}
	if got := ask(t, s, `{"aggregate": {"cpu": "count"}}`); len(got) != 1 {
		t.Errorf("after dropping a series: %q", got)
	}
	st, err := s.Stats(ctx)
	if err != nil || st.Series != 2 || st.Points != 5001 || st.Bytes() == 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(ctx, dir, VerifyOptions{})
	if err != nil || !r.OK() || r.Points != 5001 || r.Series != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
