package query

import (
	"maps"
	"slices"
	"strconv"

	"weir/series/aggregate"
	"weir/series/query/proptree"
)

func (q *Query) parseFilter(root *proptree.Node) error {
	n := root.Child("filter")
	if n == nil {
		return nil
	}
	if q.Kind != SelectEvents && !n.Empty() {
		return problem("Query object filter field: expected an object of bounds, found %s", n.Value)
	}
	switch q.Kind {
	case SelectEvents:
		q.Filter.Text = n.Value
	case Select:
		if slices.ContainsFunc(n.Children, func(c proptree.Node) bool { return isBound(c.Key) }) {
			b, err := parseBounds(q.Metrics[0], n)
			if err != nil {
				return err
			}
			q.Filter.Columns = map[string]aggregate.Bounds{q.Metrics[0]: b}
			return nil
		}
		return q.parseColumns(n)
	case Join, GroupAggregateJoin:
		return q.parseColumns(n)
	case GroupAggregate:
		return q.parseFunctions(n)
	}
	return nil
}

func isBound(key string) bool { return key == "gt" || key == "ge" || key == "lt" || key == "le" }

func (q *Query) parseColumns(n *proptree.Node) error {
	for _, c := range n.Children {
		if !slices.Contains(q.Metrics, c.Key) {
			q.Unused = append(q.Unused, c.Key)
			continue
		}
		if _, twice := q.Filter.Columns[c.Key]; twice {
			continue
		}
		b, err := parseBounds(c.Key, &c)
		if err != nil {
			return err
		}
		if q.Filter.Columns == nil {
			q.Filter.Columns = map[string]aggregate.Bounds{}
		}
		q.Filter.Columns[c.Key] = b
	}
	if q.Kind == GroupAggregateJoin && len(q.Filter.Columns) > 0 && !filterable(q.Functions[0]) {
		return ErrBadArgument
	}
	return nil
}

func filterable(f Function) bool { return f == Min || f == Max || f == Mean }

func (q *Query) parseFunctions(n *proptree.Node) error {
	q.Filter.Functions = map[Function]aggregate.Bounds{}
	for _, c := range n.Children {
		if c.Key == "=" {
			continue
		}
		f, ok := ParseFunction(c.Key)
		if !ok || !slices.Contains(q.Functions, f) {
			q.Unused = append(q.Unused, c.Key)
			continue
		}
		if _, twice := q.Filter.Functions[f]; twice {
			continue
		}
		b, err := parseBounds(c.Key, &c)
		if err != nil {
			return err
		}
		q.Filter.Functions[f] = b
	}
	for f := range maps.Keys(q.Filter.Functions) {
		if !filterable(f) {
			return ErrBadArgument
		}
	}
	if len(q.Filter.Functions) < 2 {
		return nil
	}
	meta := n.Child("=")
	if meta == nil {
		return nil
	}
	for _, c := range meta.Children {
		switch {
		case c.Key != "require":
			return problem("Unknown filter meta key%s", c.Key)
		case c.Value == "any":
			q.Filter.Any = true
		case c.Value != "all":
			return problem("Query object filter field has unknown filter combiner %s", c.Value)
		}
	}
	return nil
}

// parseBounds reads {"gt": x, "lt": y}, with ge and le where a bound itself is in; gt and lt win.
func parseBounds(name string, n *proptree.Node) (aggregate.Bounds, error) {
	b := aggregate.Everything()
	for _, key := range []string{"ge", "gt", "le", "lt"} {
		c := n.Child(key)
		if c == nil {
			continue
		}
		v, err := strconv.ParseFloat(c.Value, 64)
		if err != nil || v != v {
			return b, problem("Query object filter field: %s has bad value, can't parse floating point", name)
		}
		switch key {
		case "ge", "gt":
			b.Low, b.OpenLow = v, key == "gt"
		default:
			b.High, b.OpenHigh = v, key == "lt"
		}
	}
	if b.Low >= b.High {
		return b, ErrBadArgument
	}
	return b, nil
}
