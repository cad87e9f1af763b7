package query

import (
	"context"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"select":"cpu","range":{"from":0,"to":9},"where":{"host":["a"],"dc":{"prefix":"x"}},"filter":{"gt":1},"limit":2}`,
		`{"group-aggregate":{"metric":"cpu","step":"1s","func":["min","max"]},"range":{"from":9,"to":0},"apply":[{"name":"rate"}]}`,
		`{"join":["cpu","mem"],"range":{"from":0,"to":9},"apply":[{"name":"eval","expr":"cpu+mem"}]}`,
		`{"aggregate":{"cpu":"count"},"group-by-tag":["host"]}`,
		`{"group-aggregate-join":{"metric":["cpu","mem"],"step":"2n","func":"max"},"range":{"from":0,"to":9},"filter":{"cpu":{"ge":1}}}`,
		`{"select":"cpu","range":{"from":0,"to":99},"apply":[{"name":"scale","weights":[2]},{"name":"sma","window-width":3},{"name":"top","N":2}]}`,
		`{"select":"cpu","range":{"from":99,"to":0},"apply":[{"name":"heavy-hitters","error":0.1,"portion":0.2},{"name":"sum","ignore_missing":true}]}`,
		`{"group-aggregate":{"metric":"cpu","step":3,"func":["min","sum"]},"range":{"from":0,"to":99},"apply":[{"name":"ewma","decay":0.5}],"pivot-by-tag":"dc"}`,
		`{"select-events":"!ev","range":{"from":"20170101T000000","to":0},"filter":"a|b","where":[{"host":"a"}],"order-by":"series","offset":1}`,
	} {
		f.Add([]byte(s))
	}
	m := regular(3, 20, 1)
	f.Fuzz(func(t *testing.T, text []byte) {
		if q, err := Parse(text); err == nil {
			if answer, err := Run(context.Background(), m, q, Options{Workers: 1}); err == nil {
				for range answer.All() {
				}
			}
		}
		if q, err := ParseSearch(text); err == nil && q.Kind != Search {
			t.Fatal("a search of another kind")
		}
		if s, err := ParseSuggest(text); err == nil && s.Target > TagValues {
			t.Fatal("an unknown target")
		}
	})
}
