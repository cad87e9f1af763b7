package query

import (
	"strconv"

	"weir/series/query/apply"
	"weir/series/query/proptree"
	"weir/series/query/rows"
)

func (q *Query) parseApply(root *proptree.Node) error {
	n := root.Child("apply")
	if n == nil {
		return nil
	}
	for _, c := range n.Children {
		s, err := parseStep(&c)
		if err != nil {
			return err
		}
		q.Apply = append(q.Apply, s)
	}
	_, err := apply.New(q.Apply, q.env())
	return err
}

// parameters of each function that must be there.
var parameters = map[string][]string{
	"scale": {"weights"}, "sum": {"ignore_missing"}, "diff": {"ignore_missing"}, "multiply": {"ignore_missing"},
	"divide": {"ignore_missing"}, "ewma": {"decay"}, "ewma-error": {"decay"}, "sma": {"window-width"},
	"sma-error": {"window-width"}, "top": {"N"}, "frequent-items": {"error", "portion"}, "heavy-hitters": {"error", "portion"},
}

func parseStep(n *proptree.Node) (apply.Step, error) {
	name := n.Child("name")
	if name == nil {
		return apply.Step{}, &apply.StepError{Reason: "No such node (name)"}
	}
	s := apply.Step{Name: name.Value, Expr: n.Text("expr")}
	for _, p := range parameters[s.Name] {
		c := n.Child(p)
		if c == nil {
			return s, &apply.StepError{Reason: "No such node (" + p + ")"}
		}
		var err error
		switch p {
		case "weights":
			for _, w := range texts(c) {
				v, bad := strconv.ParseFloat(w, 64)
				if bad != nil {
					err = bad
				}
				s.Weights = append(s.Weights, v)
			}
		case "ignore_missing":
			s.IgnoreMissing, err = strconv.ParseBool(c.Value)
		case "window-width":
			s.Window, err = strconv.Atoi(c.Value)
		case "N":
			s.N, err = strconv.Atoi(c.Value)
		default:
			to := map[string]*float64{"decay": &s.Decay, "error": &s.Error, "portion": &s.Portion}[p]
			*to, err = strconv.ParseFloat(c.Value, 64)
		}
		if err != nil {
			return s, &apply.StepError{Reason: "`" + p + "` has bad value " + c.Value}
		}
	}
	return s, nil
}

// env is what the rows of the query are before the pipeline.
func (q *Query) env() apply.Env {
	e := apply.Env{Shape: rows.Scalar, Width: 1}
	switch q.Kind {
	case Select, Aggregate:
		for _, m := range q.Metrics {
			v := apply.Variable{Name: m}
			if q.Kind == Aggregate {
				v.Series = m + ":"
			}
			e.Variables = append(e.Variables, v)
		}
	case Join, GroupAggregateJoin:
		e.Shape, e.Width, e.Regular = rows.Tuple, len(q.Metrics), q.Kind == GroupAggregateJoin
		for i, m := range q.Metrics {
			e.Variables = append(e.Variables, apply.Variable{Name: m, Column: i})
		}
	case GroupAggregate:
		e.Shape, e.Width, e.Regular = rows.Tuple, len(q.Functions), true
		for _, m := range q.Metrics {
			e.Variables = append(e.Variables, apply.Variable{Name: m, Series: m + ":"})
			for i, f := range q.Functions {
				e.Variables = append(e.Variables, apply.Variable{Name: m + ":" + f.String(), Series: m + ":", Column: i})
			}
		}
	case SelectEvents:
		e.Shape, e.Width = rows.Text, 0
	default:
		e.Shape, e.Width = rows.Names, 0
	}
	return e
}
