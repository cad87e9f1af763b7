package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/series/names"
	"weir/series/query/format"
	"weir/series/query/proptree"
	"weir/series/query/rows"
)

var kinds = map[string]Kind{
	"select": Select, "aggregate": Aggregate, "join": Join, "group-aggregate": GroupAggregate,
	"group-aggregate-join": GroupAggregateJoin, "select-events": SelectEvents,
}

var fields = []string{
	"output", "order-by", "group-by", "group-by-tag", "pivot-by-tag", "limit", "offset", "range", "where", "apply", "eval", "filter",
}

const badMetric = protocolError("Metric name can't be empty or start with '!' symbol")

func problem(text string, args ...any) error { return protocolError(fmt.Sprintf(text, args...)) }

// Parse reads a query as JSON. Its errors are texts that clients know.
func Parse(json []byte) (*Query, error) {
	root, err := proptree.Parse(json)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(root.Children, func(n proptree.Node) bool { _, ok := kinds[n.Key]; return ok })
	if at < 0 {
		return nil, problem("Query object type is undefined. One of the following fields should be added: select, aggregate, join, group-aggregate")
	}
	if err := checkFields(root); err != nil {
		return nil, err
	}
	q := &Query{Kind: kinds[root.Children[at].Key]}
	if q.Output, err = parseOutput(root.Child("output")); err != nil {
		return nil, err
	}
	if err := q.parseKind(&root.Children[at]); err != nil {
		return nil, err
	}
	if q.Kind != Names {
		for _, m := range q.Metrics {
			if m == "" || strings.HasPrefix(m, "!") != (q.Kind == SelectEvents) {
				return nil, badMetric
			}
		}
		if err := q.parseRange(root.Child("range")); err != nil {
			return nil, err
		}
	}
	for _, part := range []func(*proptree.Node) error{
		q.parseOrder, q.parseWhere, q.parseGroup, q.parseFilter, q.parseLimits, q.parseApply,
	} {
		if err := part(root); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func checkFields(root *proptree.Node) error {
	for _, c := range root.Children {
		if _, ok := kinds[c.Key]; !ok && !slices.Contains(fields, c.Key) {
			return problem("Query object contains unexpected field `%s`", c.Key)
		}
	}
	return nil
}

func (q *Query) parseKind(n *proptree.Node) error {
	switch q.Kind {
	case Select:
		if len(n.Children) > 0 {
			return problem("Query object doesn't have a 'select' field")
		}
		if metric, ok := strings.CutPrefix(n.Value, "meta:names"); ok && (metric == "" || metric[0] == ':') {
			q.Kind = Names
			if len(metric) > 1 {
				q.Metrics = []string{metric[1:]}
			}
			return nil
		}
		q.Metrics = []string{n.Value}
	case SelectEvents:
		if !strings.HasPrefix(n.Value, "!") {
			return problem("Event name should start with '!' symbol")
		}
		q.Metrics = []string{n.Value}
	case Aggregate:
		return q.parseAggregate(n)
	case Join:
		if len(n.Children) == 0 {
			return problem("Metric name should be set")
		}
		q.Metrics = texts(n)
		if len(q.Metrics) < 2 {
			return problem("Can't initialize matcher. Query is not a `JOIN` query.")
		}
	case GroupAggregate, GroupAggregateJoin:
		if err := q.parseGroupAggregate(n); err != nil {
			return err
		}
	}
	if q.width() > rows.MaxWidth {
		return problem("A row has at most %d columns, this query asks for %d", rows.MaxWidth, q.width())
	}
	return nil
}

// texts is a scalar, or the elements of a list.
func texts(n *proptree.Node) []string {
	if n == nil {
		return nil
	}
	if len(n.Children) == 0 {
		if n.Value == "" {
			return nil
		}
		return []string{n.Value}
	}
	list := make([]string, 0, len(n.Children))
	for _, c := range n.Children {
		list = append(list, c.Value)
	}
	return list
}

func (q *Query) parseAggregate(n *proptree.Node) error {
	if len(n.Children) == 0 {
		return problem("Query object has empty `aggregate` field")
	}
	seen := make(map[string]bool, len(n.Children))
	for _, c := range n.Children {
		f, ok := ParseFunction(c.Value)
		if !ok {
			return problem("Unknown aggregate function `%s`", c.Value)
		}
		if seen[c.Key] {
			return problem("Duplicate metric name found in `aggregate` query")
		}
		seen[c.Key] = true
		q.Metrics, q.Functions = append(q.Metrics, c.Key), append(q.Functions, f)
	}
	return nil
}

func (q *Query) parseGroupAggregate(n *proptree.Node) error {
	const text = "Can't validate `group-aggregate` statement, `%s` field required, %s"
	if q.Metrics = texts(n.Child("metric")); len(q.Metrics) == 0 {
		return problem(text, "metric", "")
	}
	step := n.Child("step")
	if step == nil {
		return problem(text, "step", "")
	}
	var ok bool
	if q.Step, ok = format.ParseDuration(step.Value); !ok {
		return problem(text, "step", "can't parse time-duration: "+step.Value)
	}
	if q.Step == 0 {
		return ErrStep
	}
	for _, name := range texts(n.Child("func")) {
		f, ok := ParseFunction(name)
		if !ok {
			return problem(text, "func", "invalid aggregation function `"+name+"`")
		}
		q.Functions = append(q.Functions, f)
	}
	switch {
	case len(q.Functions) == 0:
		return problem(text, "func", "")
	case q.Kind == GroupAggregateJoin && len(q.Functions) != 1:
		return problem("Single aggregation fuction expected")
	case q.Kind == GroupAggregateJoin && len(q.Metrics) < 2:
		return problem("Join query expects at least two metrics")
	}
	return nil
}

func (q *Query) parseRange(n *proptree.Node) error {
	if n == nil && q.Kind == Aggregate {
		q.From, q.To = math.MinInt64, math.MaxInt64
		return nil
	}
	from, to := n.Child("from"), n.Child("to")
	if from == nil || to == nil {
		return problem("Range field is not set")
	}
	begin, err := format.ParseTime(from.Value)
	if err != nil {
		return problem("Range field error: can't parse %s as begin timestamp, %s", from.Value, err)
	}
	end, err := format.ParseTime(to.Value)
	if err != nil {
		return problem("Range field error: can't parse %s as end timestamp, %s", to.Value, err)
	}
	// The second bound is exclusive, save where it stands for everything beyond.
	switch {
	case begin == end:
		q.From, q.To = math.MaxInt64, math.MinInt64 // nothing
		return nil
	case begin < end:
		q.From, q.To = begin, end
		if end != math.MaxInt64 {
			q.To--
		}
		return nil
	}
	q.From, q.To, q.Backward = end, begin, true
	if end != math.MinInt64 {
		q.From++
	}
	return nil
}

func parseOutput(n *proptree.Node) (out format.Output, err error) {
	if n == nil {
		return out, nil
	}
	is := func(text, word string) bool { return text == word || text == strings.ToUpper(word) }
	if f := n.Child("format"); f != nil {
		switch {
		case is(f.Value, "resp"):
		case is(f.Value, "csv"):
			out.Format = format.CSV
		case is(f.Value, "jsonl"):
			out.Format = format.JSONL
		default:
			return out, protocolError("invalid output statement (format)")
		}
	}
	if t := n.Child("timestamp"); t != nil {
		switch {
		case is(t.Value, "iso"):
		case is(t.Value, "raw"):
			out.Raw = true
		default:
			return out, protocolError("invalid output statement (timestamp)")
		}
	}
	return out, nil
}

func (q *Query) parseOrder(root *proptree.Node) error {
	n := root.Child("order-by")
	if n == nil {
		return nil
	}
	if q.Kind == Aggregate {
		return problem("Unexpected `order-by` statement found in `aggregate` query")
	}
	switch n.Value {
	case "time":
	case "series":
		q.Order = BySeries
	default:
		return problem("Unexpected `order-by` field value `%s`", n.Value)
	}
	return nil
}

func (q *Query) parseGroup(root *proptree.Node) error {
	for _, field := range []string{"group-by", "pivot-by-tag", "group-by-tag"} {
		if n := root.Child(field); n != nil {
			q.Group.Keys, q.Group.Keep = texts(n), field != "group-by-tag"
			break
		}
	}
	if len(q.Group.Keys) > 0 && (q.Kind == Join || q.Kind == GroupAggregateJoin) {
		return ErrGroupJoin
	}
	return nil
}

func (q *Query) parseLimits(root *proptree.Node) error {
	for field, to := range map[string]*uint64{"limit": &q.Limit, "offset": &q.Offset} {
		n := root.Child(field)
		if n == nil {
			continue
		}
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			return problem("Query object has invalid `%s` field, can't parse %s as a number", field, n.Value)
		}
		*to = uint64(max(v, 0))
	}
	return nil
}

// ParseSearch reads a query for names of series as JSON.
func ParseSearch(json []byte) (*Query, error) {
	root, err := proptree.Parse(json)
	if err != nil {
		return nil, err
	}
	if err := checkFields(root); err != nil {
		return nil, err
	}
	q := &Query{Kind: Search}
	if root.Child("select") == nil {
		return nil, problem("Query object missing `select` field")
	}
	if m := root.Text("select"); m != "" {
		q.Metrics = []string{m}
	}
	if q.Output, err = parseOutput(root.Child("output")); err != nil {
		return nil, err
	}
	if err := q.parseWhere(root); err != nil {
		return nil, err
	}
	return q, q.parseLimits(root)
}

// ParseSuggest reads a request for suggestions as JSON.
func ParseSuggest(json []byte) (*Suggest, error) {
	root, err := proptree.Parse(json)
	if err != nil {
		return nil, err
	}
	for _, c := range root.Children {
		if !slices.Contains([]string{"select", "metric", "tag", "starts-with", "output"}, c.Key) {
			return nil, problem("Unexpected field `%s` in query object", c.Key)
		}
	}
	n := root.Child("select")
	if n == nil {
		return nil, problem("Query object missing `select` field")
	}
	s := &Suggest{Metric: root.Text("metric"), Tag: root.Text("tag"), Prefix: root.Text("starts-with")}
	switch n.Value {
	case "metric-names":
	case "tag-names":
		s.Target = TagNames
	case "tag-values":
		s.Target = TagValues
	default:
		return nil, problem("Query object has invalid `select` field, unknown target %s", n.Value)
	}
	if s.Target != MetricNames && s.Metric == "" {
		return nil, problem("Metric name expected")
	}
	if s.Target == TagValues && s.Tag == "" {
		return nil, problem("Tag name expected")
	}
	s.Output, err = parseOutput(root.Child("output"))
	return s, err
}

// parseWhere reads {"tag": "value"}, {"tag": ["v", …]}, [{"tag": "value", …}, …], and beyond the original
// {"tag": {"not": …}}, {"prefix": "p"}, {"regexp": "e"}, {"has": true}, and {"not-prefix": …} and so on.
func (q *Query) parseWhere(root *proptree.Node) error {
	n := root.Child("where")
	if n == nil {
		return nil
	}
	if len(n.Children) == 0 {
		if !n.Empty() {
			return problem("Invalid where clause, expected an object of tags or a list of such, found %s", n.Value)
		}
		return nil
	}
	if len(q.Metrics) == 0 {
		return problem("Invalid where clause, metric is not set")
	}
	for _, c := range n.Children {
		if c.Key == "" { // an element of a list: all tags of a series
			if !c.Empty() {
				return problem("Invalid where clause, expected an object with all tags of a series, found %s", c.Value)
			}
			tags := make([]string, 0, len(c.Children))
			for _, tag := range c.Children {
				tags = append(tags, tag.Key+"="+tag.Value)
			}
			q.Exact = append(q.Exact, strings.Join(tags, " "))
			continue
		}
		if len(c.Children) == 0 || c.Children[0].Key == "" {
			values := texts(&c)
			if values == nil {
				values = []string{c.Value}
			}
			q.Where = append(q.Where, names.Tag(c.Key, values...))
			continue
		}
		for _, op := range c.Children {
			m, err := parseCondition(c.Key, &op)
			if err != nil {
				return err
			}
			q.Where = append(q.Where, m)
		}
	}
	return nil
}

func parseCondition(key string, op *proptree.Node) (names.Match, error) {
	var m names.Match
	word, not := strings.CutPrefix(op.Key, "not-")
	switch word {
	case "not":
		not = true
		m = names.Tag(key, texts(op)...)
	case "prefix":
		m = names.TagPrefix(key, op.Value)
	case "regexp":
		var err error
		if m, err = names.TagRegexp(key, op.Value); err != nil {
			return m, problem("Invalid where clause, tag %s: %s", key, err)
		}
	case "has":
		m = names.Has(key)
		not = not != (op.Value == "false")
	default:
		return m, problem("Invalid where clause, tag %s: unknown condition `%s`, expected not, prefix, regexp or has", key, op.Key)
	}
	if not {
		m = m.Not()
	}
	return m, nil
}
