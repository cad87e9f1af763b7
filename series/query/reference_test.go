package query

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestReference asks what the reference says about the edges of the language, one statement a line. Times are
// nanoseconds, answers are CSV.
func TestReference(t *testing.T) {
	m := newMemory()
	v := func(from, n, step int64) (p []point) {
		for i := range n {
			p = append(p, point{time: from + i*step, value: float64(i)})
		}
		return p
	}
	m.add("cpu host=a dc=x", v(0, 5, 10)...) // 0 to 40
	m.add("cpu host=b dc=x", v(5, 3, 10)...) // 5 to 25
	m.add("cpu dc=y")                        // without points, and without a host
	m.add("mem host=a dc=x", v(10, 2, 10)...)
	m.add("odd host=a", point{time: 0, value: math.NaN()}, point{time: 1, value: math.Inf(1)}, point{time: 2, value: math.Inf(-1)},
		point{time: 3, value: math.Copysign(0, -1)}, point{time: 4, value: 0})
	m.add("same host=a", point{time: 7, value: 1}, point{time: 7, value: 2}, point{time: 7, value: 3})
	m.add("same host=b", point{time: 7, value: 4})
	m.add("far host=a", point{time: math.MinInt64, value: 1}, point{time: -1, value: 2}, point{time: math.MaxInt64, value: 3})
	m.add("!ev host=a", point{time: 1, text: "one"}, point{time: 2, text: "two, with a comma"})
	m.add("!ev host=b", point{time: 1, text: "eins"})
	m.add("!ev2 host=a", point{time: 1, text: "other"})

	var many string // metrics that there are not
	for i := range 70 {
		many += fmt.Sprintf(`"none%d":"max",`, i)
	}
	many = many[:len(many)-1]
	const always = `"range":{"from":0,"to":100}`
	for _, c := range []struct{ body, want string }{
		// From is in, to is not, either way; the last time there is stands for everything beyond.
		{`"select":"cpu","where":{"host":"a"},"range":{"from":10,"to":30}`, "cpu dc=x host=a,10,1 cpu dc=x host=a,20,2"},
		{`"select":"cpu","where":{"host":"a"},"range":{"from":30,"to":10}`, "cpu dc=x host=a,30,3 cpu dc=x host=a,20,2"},
		{`"select":"cpu","range":{"from":10,"to":10}`, ""},
		{`"select":"far","range":{"from":"16000101T000000","to":"16000101T000000"}`, ""},
		{`"select":"far","range":{"from":"15000101T000000","to":"16000101T000000"}`, ""},
		{`"select":"far","range":{"from":"99990101T000000","to":"99990101T000000"}`, ""},
		{`"select":"far","range":{"from":"16000101T000000","to":"99990101T000000"}`,
			"far host=a,-9223372036854775808,1 far host=a,-1,2 far host=a,9223372036854775807,3"},
		{`"select":"far","range":{"from":"99990101T000000","to":"16000101T000000"}`,
			"far host=a,9223372036854775807,3 far host=a,-1,2 far host=a,-9223372036854775808,1"},
		{`"select":"far","range":{"from":9223372036854775807,"to":0}`, "far host=a,9223372036854775807,3"},
		{`"select":"far","range":{"from":0,"to":18446744073709551615}`, "far host=a,9223372036854775807,3"},
		{`"select":"far","range":{"from":"22620411T234716.854775807","to":"22620411T234716.854775806"}`, "far host=a,9223372036854775807,3"},
		{`"select":"far","range":{"from":"22620411T234716.854775806","to":"22620411T234716.854775807"}`, "far host=a,9223372036854775807,3"},
		{`"select":"far","range":{"from":"16770921T001243.145224192","to":"16770921T001243.145224193"}`, "far host=a,-9223372036854775808,1"},
		{`"select":"far","range":{"from":"16770921T001243.145224193","to":"16770921T001243.145224194"}`, ""},
		{`"aggregate":{"far":"count"}`, "far:count host=a,9223372036854775807,3"},
		{`"select":"cpu"`, "-Range field is not set"},
		{`"select":"cpu","range":{"from":1}`, "-Range field is not set"},
		{`"select":"cpu","range":{"from":"x","to":1}`, "-Range field error: can't parse x as begin timestamp, unknown timestamp format"},
		{`"select":"cpu","range":{"from":1,"to":"20171301T000000"}`,
			"-Range field error: can't parse 20171301T000000 as end timestamp, Month number is out of range 1..12"},
		// Order, and ties.
		{`"select":"cpu","range":{"from":0,"to":20}`, "cpu dc=x host=a,0,0 cpu dc=x host=b,5,0 cpu dc=x host=a,10,1 cpu dc=x host=b,15,1"},
		{`"select":"cpu","order-by":"series","range":{"from":20,"to":0}`, "cpu dc=x host=a,20,2 cpu dc=x host=a,10,1 cpu dc=x host=b,15,1 cpu dc=x host=b,5,0"},
		{`"select":"same",` + always, "same host=a,7,1 same host=a,7,2 same host=a,7,3 same host=b,7,4"},
		{`"select":"same","range":{"from":100,"to":0}`, "same host=b,7,4 same host=a,7,3 same host=a,7,2 same host=a,7,1"},
		{`"aggregate":{"cpu":"max"},"order-by":"time"`, "-Unexpected `order-by` statement found in `aggregate` query"},
		{`"select":"cpu","order-by":"x",` + always, "-Unexpected `order-by` field value `x`"},
		// Limit and offset are of the rows that are left.
		{`"select":"cpu","limit":1,"offset":1,` + always, "cpu dc=x host=b,5,0"},
		{`"select":"cpu","limit":1,"offset":100,` + always, ""},
		{`"select":"same","limit":2,"offset":1,"range":{"from":100,"to":0}`, "same host=a,7,3 same host=a,7,2"},
		{`"select":"same","limit":2,"offset":2,"order-by":"series","range":{"from":100,"to":0}`, "same host=a,7,1 same host=b,7,4"},
		{`"select":"cpu","filter":{"ge":2},"limit":1,"offset":1,` + always, "cpu dc=x host=b,25,2"},
		{`"select":"mem","limit":-1,` + always, "mem dc=x host=a,10,0 mem dc=x host=a,20,1"},
		{`"select":"mem","limit":9223372036854775807,"offset":9223372036854775807,` + always, ""},
		{`"select":"mem","limit":"x",` + always, "-Query object has invalid `limit` field, can't parse x as a number"},
		{`"select":"cpu","apply":[{"name":"rate"}],"limit":1,` + always, "cpu dc=x host=a,10,100000000"},
		// Where.
		{`"select":"mem","where":null,` + always, "mem dc=x host=a,10,0 mem dc=x host=a,20,1"},
		{`"select":"mem","where":{},"limit":1,` + always, "mem dc=x host=a,10,0"},
		{`"select":"mem","where":{"host":["a","z"],"dc":"x"},"limit":1,` + always, "mem dc=x host=a,10,0"},
		{`"select":"mem","where":{"host":"z"},` + always, "-not found"},
		{`"select":"mem","where":[{"host":"a","dc":"x"},{"host":"z","dc":"x"}],"limit":1,` + always, "mem dc=x host=a,10,0"},
		{`"select":"mem","where":[{"host":"a"}],` + always, "-not found"},
		{`"select":"mem","where":"host=a",` + always, "-Invalid where clause, expected an object of tags or a list of such, found host=a"},
		{`"select":"mem","where":["host=a"],` + always, "-Invalid where clause, expected an object with all tags of a series, found host=a"},
		{`"select":"mem","where":{"host":{"like":"a"}},` + always, "-Invalid where clause, tag host: unknown condition `like`, expected not, prefix, regexp or has"},
		// Filter.
		{`"select":"odd","filter":{"ge":0},` + always, "odd host=a,1,inf odd host=a,3,-0 odd host=a,4,0"},
		{`"select":"odd","filter":{"gt":0},` + always, "odd host=a,1,inf"},
		{`"select":"odd","filter":{"lt":0},` + always, "odd host=a,2,-inf"},
		{`"select":"odd","filter":{"le":"inf"},` + always, "odd host=a,1,inf odd host=a,2,-inf odd host=a,3,-0 odd host=a,4,0"},
		{`"select":"odd","filter":{"gt":1,"ge":0},` + always, "odd host=a,1,inf"},
		{`"select":"odd","filter":{"ge":2,"le":2},` + always, "-bad argument"},
		{`"select":"odd","filter":{"ge":"x"},` + always, "-Query object filter field: odd has bad value, can't parse floating point"},
		{`"select":"odd","filter":"gt 2",` + always, "-Query object filter field: expected an object of bounds, found gt 2"},
		{`"select":"odd","filter":null,"limit":1,` + always, "odd host=a,0,nan"},
		{`"select":"mem","filter":{"other":{"gt":5}},` + always, "mem dc=x host=a,10,0 mem dc=x host=a,20,1"},
		{`"join":["cpu","mem"],"filter":{"mem":{"gt":0}},"where":{"host":"a"},"limit":3,` + always,
			"cpu|mem dc=x host=a,0,0, cpu|mem dc=x host=a,10,1, cpu|mem dc=x host=a,20,2,1"},
		{`"join":["cpu","mem"],"filter":{"mem":{"gt":0},"cpu":{"gt":2}},"where":{"host":"a"},` + always,
			"cpu|mem dc=x host=a,20,,1 cpu|mem dc=x host=a,30,3, cpu|mem dc=x host=a,40,4,"},
		// Aggregate.
		{`"aggregate":{"odd":"count"}`, "odd:count host=a,4,5"},
		{`"aggregate":{"odd":"min"}`, "odd:min host=a,2,-inf"},
		{`"aggregate":{"odd":"max"}`, "odd:max host=a,1,inf"},
		{`"aggregate":{"odd":"first"}`, "odd:first host=a,0,nan"},
		{`"aggregate":{"cpu":"last"},"range":{"from":30,"to":0}`, "cpu:last dc=x host=a,30,3 cpu:last dc=x host=b,25,2"},
		{`"aggregate":{"cpu":"last_timestamp"}`, "cpu:last_timestamp dc=x host=a,40 cpu:last_timestamp dc=x host=b,25"},
		{`"aggregate":{"cpu":"max_timestamp"}`, "cpu:max_timestamp dc=x host=a,40,40 cpu:max_timestamp dc=x host=b,25,25"},
		{`"aggregate":{"cpu":"count"},"pivot-by-tag":"dc"`, "cpu:count dc=x,40,8"},
		{`"aggregate":{"cpu":"mean"},"group-by-tag":["host"]`, "cpu:mean dc=x,40,1.625"},
		{`"aggregate":{"cpu":"min"},"group-by-tag":["nothing"]`, "-Group-by statement doesn't match any series"},
		{`"aggregate":{"cpu":"min","mem":"max"},"filter":{"gt":9}`, "cpu:min dc=x host=a,0,0 cpu:min dc=x host=b,5,0 mem:max dc=x host=a,20,1"},
		{`"aggregate":{"cpu":"min"},"group-by-tag":["host","dc"]`, "-Group-by statement doesn't match any series"},
		{`"aggregate":{"cpu":"min"},"pivot-by-tag":[]`, "cpu:min dc=x host=a,0,0 cpu:min dc=x host=b,5,0"},
		{`"aggregate":{"cpu":"median"}`, "-Unknown aggregate function `median`"},
		{`"aggregate":"cpu"`, "-Query object has empty `aggregate` field"},
		{`"aggregate":{"cpu":"min","cpu":"max"}`, "-Duplicate metric name found in `aggregate` query"},
		// Spans begin at from; backward they end there.
		{`"group-aggregate":{"metric":"cpu","step":20,"func":["count","sum"]},"where":{"host":"a"},"range":{"from":5,"to":41}`,
			"cpu:count|cpu:sum dc=x host=a,5,2,3 cpu:count|cpu:sum dc=x host=a,25,2,7"},
		{`"group-aggregate":{"metric":"cpu","step":20,"func":["count","sum"]},"where":{"host":"a"},"range":{"from":40,"to":0}`,
			"cpu:count|cpu:sum dc=x host=a,40,2,7 cpu:count|cpu:sum dc=x host=a,20,2,3"},
		{`"group-aggregate":{"metric":"cpu","step":"1h","func":"last"},"where":{"host":"a"},"range":{"from":0,"to":40}`, "cpu:last dc=x host=a,0,3"},
		{`"group-aggregate":{"metric":"cpu","step":9223372036854775807,"func":"count"},"where":{"host":"a"},"range":{"from":39,"to":0}`, "cpu:count dc=x host=a,39,3"},
		{`"group-aggregate":{"metric":["cpu","mem"],"step":100,"func":"count"},"where":{"host":"a"},` + always, "cpu:count dc=x host=a,0,5 mem:count dc=x host=a,0,2"},
		{`"group-aggregate":{"metric":["cpu","cpu"],"step":100,"func":"count"},"where":{"host":"a"},` + always, "cpu:count dc=x host=a,0,5"},
		{`"group-aggregate":{"metric":"cpu","step":20,"func":"count"},"group-by-tag":"host","range":{"from":40,"to":-1}`,
			"-Range field error: can't parse -1 as end timestamp, unknown timestamp format"},
		{`"group-aggregate":{"metric":"cpu","step":20,"func":"count"},"group-by-tag":"host","range":{"from":40,"to":0}`,
			"cpu:count dc=x,40,3 cpu:count dc=x,20,4"},
		{`"group-aggregate":{"metric":"cpu","step":0,"func":"count"},` + always, "-query parsing error"},
		{`"group-aggregate":{"metric":"cpu","step":"1y","func":"count"},` + always,
			"-Can't validate `group-aggregate` statement, `step` field required, can't parse time-duration: 1y"},
		{`"group-aggregate":{"metric":"cpu","step":1,"func":"x"},` + always,
			"-Can't validate `group-aggregate` statement, `func` field required, invalid aggregation function `x`"},
		{`"group-aggregate":{"metric":"cpu","step":20,"func":["min","max"]},"where":{"host":"a"},"filter":{"min":{"gt":1},"max":{"lt":2}},` + always, ""},
		{`"group-aggregate":{"metric":"cpu","step":20,"func":["min","max"]},"where":{"host":"a"},"filter":{"min":{"gt":2},"max":{"lt":2},"=":{"require":"any"}},` + always,
			"cpu:min|cpu:max dc=x host=a,0,0,1 cpu:min|cpu:max dc=x host=a,40,4,4"},
		{`"group-aggregate":{"metric":"cpu","step":20,"func":["sum"]},"filter":{"sum":{"gt":1}},` + always, "-bad argument"},
		// Joins.
		{`"join":["mem","none"],` + always, "mem|none dc=x host=a,10,0, mem|none dc=x host=a,20,1,"},
		{`"join":["none","mem"],` + always, "-not found"},
		{`"join":["mem","cpu"],"range":{"from":40,"to":9}`,
			"mem|cpu dc=x host=a,40,,4 mem|cpu dc=x host=a,30,,3 mem|cpu dc=x host=a,20,1,2 mem|cpu dc=x host=a,10,0,1"},
		{`"join":["cpu"],` + always, "-Can't initialize matcher. Query is not a `JOIN` query."},
		{`"join":"cpu",` + always, "-Metric name should be set"},
		{`"join":["cpu","mem"],"group-by-tag":"host",` + always, "-Group-by-tag/pivot-by-tag is not supported"},
		{`"group-aggregate-join":{"metric":["cpu","mem"],"step":30,"func":"sum"},"where":{"host":"a"},` + always,
			"cpu|mem dc=x host=a,0,3,1 cpu|mem dc=x host=a,30,7,"},
		{`"group-aggregate-join":{"metric":["cpu","mem"],"step":30,"func":["sum","min"]},` + always, "-Single aggregation fuction expected"},
		{`"group-aggregate-join":{"metric":"cpu","step":30,"func":"sum"},` + always, "-Join query expects at least two metrics"},
		{`"group-aggregate-join":{"metric":["cpu","mem"],"step":30,"func":"sum"},"filter":{"cpu":{"gt":1}},` + always, "-bad argument"},
		// Events.
		{`"select-events":"!ev","range":{"from":1,"to":2}`, "!ev host=b,1,eins !ev host=a,1,one"},
		{`"select-events":"!ev","order-by":"series","range":{"from":2,"to":0}`, "!ev host=a,2,two, with a comma !ev host=a,1,one !ev host=b,1,eins"},
		{`"select-events":"!ev","filter":"^o|w","limit":1,"offset":1,` + always, "!ev host=a,2,two, with a comma"},
		{`"select-events":"ev",` + always, "-Event name should start with '!' symbol"},
		{`"select":"!ev",` + always, "-Metric name can't be empty or start with '!' symbol"},
		{`"select":"meta:names:cpu","limit":2`, "cpu dc=x host=a cpu dc=x host=b"},
		{`"select":"meta:names:!ev"`, "!ev host=b !ev host=a"},
		{`"select":"meta:names","limit":4`, "!ev2 host=a !ev host=b !ev host=a cpu dc=x host=a"},
		{`"select":"meta:names:none"`, "-not found"},
		// Fields.
		{`"select":"cpu","x":1,` + always, "-Query object contains unexpected field `x`"},
		{`"limit":1`, "-Query object type is undefined. One of the following fields should be added: select, aggregate, join, group-aggregate"},
		{`"select":"mem","limit":1,"limit":2,` + always, "mem dc=x host=a,10,0"},
		{`"select":"mem","aggregate":{"cpu":"max"},"eval":1,"limit":"1",` + always, "mem dc=x host=a,10,0"},
		{`"select":["mem"],` + always, "-Query object doesn't have a 'select' field"},
		// Apply.
		{`"aggregate":{` + many + `}`, "-not found"},
		{`"join":[` + strings.ReplaceAll(many, `:"max"`, "") + `],` + always, "-A row has at most 64 columns, this query asks for 70"},
		{`"select":"mem","apply":[],"limit":1,` + always, "mem dc=x host=a,10,0"},
		{`"select":"mem","apply":[{"name":"f"}],` + always, "-Query object has invalid `apply` field bad query, unknown tag: f"},
		{`"select":"mem","apply":[{}],` + always, "-Query object has invalid `apply` field No such node (name)"},
		{`"select":"mem","apply":{"name":"rate"},` + always, "-Query object has invalid `apply` field No such node (name)"},
		{`"select":"mem","apply":[{"name":"sum"}],` + always, "-Query object has invalid `apply` field No such node (ignore_missing)"},
		{`"select":"mem","apply":[{"name":"eval","expr":"nope"}],` + always, "-Query object has invalid `apply` field Unknown variable [nope]"},
		{`"select":"mem","apply":[{"name":"eval"}],` + always, "-Query object has invalid `apply` field 'expr' field required"},
		{`"select":"mem","apply":[{"name":"frequent-items","error":0,"portion":1}],` + always, "-Query object has invalid `apply` field `error` can't be 0."},
		{`"select":"mem","apply":[{"name":"ewma","decay":1}],` + always, "-regullar series expected"},
		{`"join":["cpu","mem"],"apply":[{"name":"top","N":1}],` + always, "-high cardinality, lower cardinality required"},
		{`"select":"cpu","apply":[{"name":"rate"}],"where":{"host":"b"},"range":{"from":30,"to":0}`, "cpu dc=x host=b,15,100000000 cpu dc=x host=b,5,100000000"},
		{`"select":"far","apply":[{"name":"rate"}],"range":{"from":"16000101T000000","to":"99990101T000000"}`,
			"far host=a,-1,1.0842021724855043e-10 far host=a,9223372036854775807,1.0842021724855043e-10"},
		{`"join":["cpu","mem"],"apply":[{"name":"diff","ignore_missing":true}],"where":{"host":"a"},"limit":2,` + always, "cpu|mem dc=x host=a,0,0 cpu|mem dc=x host=a,10,1"},
		{`"join":["cpu","mem"],"apply":[{"name":"diff","ignore_missing":false}],"where":{"host":"a"},"limit":2,` + always, "cpu|mem dc=x host=a,0,nan cpu|mem dc=x host=a,10,1"},
	} {
		body := `{` + c.body + `,"output":{"format":"csv","timestamp":"raw"}}`
		got := answer(m, "/api/query", body)
		if got = strings.ReplaceAll(strings.TrimSpace(got), "\r", ""); !strings.HasPrefix(got, "-") {
			got = strings.ReplaceAll(strings.ReplaceAll(got, ",ts=", ","), "\n", " ")
		}
		if got != c.want {
			t.Errorf("{%s}\ngot  %s\nwant %s", c.body, got, c.want)
		}
	}
}
