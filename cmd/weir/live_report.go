package main

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"weir/internal/latency"
)

// liveReport prints what a run has found.
type liveReport struct {
	run       *liveRun
	labels    labels
	latencies latency.Histogram
	commits   int
	changed   int64 // answers
	edges     int64 // that are there
}

// liveTop is a vertex and its rank, in JSON.
type liveTop struct {
	ID   string  `json:"id"`
	Rank float32 `json:"rank"`
}

// liveMemory is the size of the state, in JSON.
type liveMemory struct {
	Changes      int64   `json:"changes"` // kept in indices
	Bytes        int64   `json:"bytes"`
	BytesPerEdge float64 `json:"bytes_per_edge"`
}

// name is what a vertex is called.
func (r *liveReport) name(v uint32) string {
	if n := r.run.g.Vertices; int64(v) >= int64(n) {
		return r.run.answer.names[int(v)-n]
	}
	return r.run.g.Names.Name(v)
}

// value is an answer as JSON has it; nil if there is none.
func (r *liveReport) value(x liveOld) any {
	switch {
	case r.run.kind.shown == liveMember:
		return x.has
	case !x.has:
		return nil
	case r.run.kind.shown == liveLabel:
		return r.name(x.value)
	case r.run.kind.shown == liveRank:
		return math.Float32frombits(x.value)
	}
	return x.value
}

// text is an answer for people.
func (r *liveReport) text(x liveOld) string {
	if f, ok := r.value(x).(float32); ok {
		return strconv.FormatFloat(float64(f), 'g', 6, 32)
	}
	return fmt.Sprint(r.value(x))
}

// titled is the name of a vertex and its label.
func (r *liveReport) titled(v uint32) string {
	name := r.name(v)
	if label := r.labels[name]; label != "" {
		return name + " (" + label + ")"
	}
	return name
}

// object prints a line of JSON.
func (r *liveReport) object(v any) error {
	e := json.NewEncoder(r.run.app.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// load reports the first answer.
func (r *liveReport) load() error {
	l := r.run
	if r.edges = l.rows.Edges(); l.g.Undirected {
		r.edges = (l.rows.Edges() + max(l.g.SelfLoops, 0)) / 2
	}
	summary, text := r.summary()
	memory := r.memory()
	if l.app.json {
		type loaded struct {
			Question string             `json:"question"`
			Graph    graphSummary       `json:"graph"`
			Answer   liveSummary        `json:"answer"`
			Memory   liveMemory         `json:"memory"`
			Seconds  map[string]float64 `json:"seconds"`
		}
		if err := r.object(map[string]loaded{"loaded": {l.kind.name, l.g.summary(), summary, memory, l.g.seconds}}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(l.app.stdout, "%s (%s)\n", text, formatSeconds(l.g.seconds["load"]))
	}
	l.app.note("%s", memory)
	return l.app.stdout.Flush()
}

// memory is the size of the state, as the workers last told.
func (r *liveReport) memory() (m liveMemory) {
	for _, s := range r.run.sizes {
		m.Changes += s.Edits
		m.Bytes += s.Bytes
	}
	m.BytesPerEdge = float64(m.Bytes) / float64(max(r.edges, 1))
	return m
}

func (m liveMemory) String() string {
	return fmt.Sprintf("state: %s changes in %s, %.1f bytes an edge", humanize.Comma(m.Changes), humanize.IBytes(uint64(m.Bytes)), m.BytesPerEdge)
}

// summary is the whole answer in short.
func (r *liveReport) summary() (liveSummary, string) {
	sum, top := r.run.answer.summary(r.run.kind.shown)
	from := strings.Join(r.run.flags.roots, ", ")
	vertices := plural(sum.Answered, "vertex")
	if sum.Answered != 1 {
		vertices = humanize.Comma(int64(sum.Answered)) + " vertices"
	}
	switch r.run.kind.shown {
	case liveDistance:
		return sum, fmt.Sprintf("bfs from %s: %s reached, the farthest %s away", from, vertices, plural(int(sum.Depth), "edge"))
	case liveMember:
		return sum, fmt.Sprintf("reach from %s: %s", from, vertices)
	case liveLabel:
		return sum, fmt.Sprintf("%s: %s of %s, the largest of %s", r.run.kind.name, plural(sum.Components, "component"), vertices, humanize.Comma(int64(sum.Largest)))
	}
	var list []string
	for _, v := range top {
		x := liveOld{r.run.answer.values[v], true}
		sum.Top = append(sum.Top, liveTop{r.name(v), math.Float32frombits(x.value)})
		list = append(list, r.titled(v)+" "+r.text(x))
	}
	return sum, fmt.Sprintf("pagerank of %s: %s", vertices, strings.Join(list, ", "))
}

// commit reports a transaction.
func (r *liveReport) commit(t liveTransaction, took time.Duration) error {
	l := r.run
	r.commits++
	r.latencies.Add(took)
	r.edges += int64(t.added - t.removed)
	changes := l.answer.changes()
	r.changed += int64(len(changes))
	limit := l.flags.limit
	if l.flags.rewire > 0 && !l.flags.limited {
		return nil
	}
	if limit < 0 || limit > len(changes) {
		limit = len(changes)
	}
	if l.app.json {
		type change struct {
			Commit int    `json:"commit"`
			ID     string `json:"id"`
			Label  string `json:"label,omitempty"`
			Old    any    `json:"old"`
			New    any    `json:"new"`
		}
		for _, c := range changes[:limit] {
			id := r.name(c.vertex)
			if err := r.object(change{r.commits, id, r.labels[id], r.value(c.old), r.value(c.new)}); err != nil {
				return err
			}
		}
		type commit struct {
			Number  int     `json:"number"`
			Added   int     `json:"added"`
			Removed int     `json:"removed"`
			Changes int     `json:"changes"`
			Omitted int     `json:"omitted"`
			Seconds float64 `json:"seconds"`
		}
		err := r.object(map[string]commit{"commit": {r.commits, t.added, t.removed, len(changes), len(changes) - limit, took.Seconds()}})
		if err != nil {
			return err
		}
		return l.app.stdout.Flush()
	}
	fmt.Fprintf(l.app.stdout, "commit %d: +%d -%d edges, %s of the answer in %s\n", r.commits, t.added, t.removed,
		plural(len(changes), "change"), formatSeconds(took.Seconds()))
	for _, c := range changes[:limit] {
		name := r.titled(c.vertex)
		switch {
		case l.kind.shown == liveMember && c.new.has:
			fmt.Fprintf(l.app.stdout, "  + %s\n", name)
		case l.kind.shown == liveMember:
			fmt.Fprintf(l.app.stdout, "  - %s\n", name)
		case !c.old.has:
			fmt.Fprintf(l.app.stdout, "  + %s: %s\n", name, r.text(c.new))
		case !c.new.has:
			fmt.Fprintf(l.app.stdout, "  - %s: %s\n", name, r.text(c.old))
		default:
			fmt.Fprintf(l.app.stdout, "  %s: %s -> %s\n", name, r.text(c.old), r.text(c.new))
		}
	}
	if n := len(changes) - limit; n > 0 {
		fmt.Fprintf(l.app.stdout, "  and %s more\n", humanize.Comma(int64(n)))
	}
	return l.app.stdout.Flush()
}

// end reports the answer as it is at last, and what following it has cost.
func (r *liveReport) end() error {
	l := r.run
	sum, text := r.summary()
	gc := pauses()
	memory := r.memory()
	if l.app.json {
		type quantiles struct {
			P50  float64 `json:"p50"`
			P90  float64 `json:"p90"`
			P99  float64 `json:"p99"`
			P999 float64 `json:"p99.9"`
			Max  float64 `json:"max"`
		}
		type summary struct {
			Answer  liveSummary `json:"answer"`
			Commits int         `json:"commits"`
			Changes int64       `json:"changes"`
			Latency quantiles   `json:"latency_seconds"`
			Memory  liveMemory  `json:"memory"`
			Pauses  gcPauses    `json:"gc_pauses"`
		}
		q := func(share float64) float64 { return r.latencies.Quantile(share).Seconds() }
		return r.object(map[string]summary{"summary": {
			sum, r.commits, r.changed, quantiles{q(0.5), q(0.9), q(0.99), q(0.999), q(1)}, memory, gc,
		}})
	}
	if r.commits > 0 {
		fmt.Fprintf(l.app.stdout, "%s, after %s and %s\n", text, plural(r.commits, "commit"), plural(int(r.changed), "change"))
		list := make([]string, 5)
		for i, share := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
			list[i] = fmt.Sprintf("p%g %s", share*100, formatSeconds(r.latencies.Quantile(share).Seconds()))
		}
		list[4] = "max " + strings.TrimPrefix(list[4], "p100 ")
		fmt.Fprintf(l.app.stdout, "latency: %s\n", strings.Join(list, ", "))
	}
	l.app.note("%s", memory)
	l.app.note("%s", gc)
	return nil
}

// gcPauses is what garbage collection has stopped the process for, up to now.
type gcPauses struct {
	Count uint64  `json:"count"`
	Max   float64 `json:"max_seconds"`
	Total float64 `json:"total_seconds"` // at most
}

func (p gcPauses) String() string {
	return fmt.Sprintf("gc: %s pauses, none longer than %s", humanize.Comma(int64(p.Count)), formatSeconds(p.Max))
}

func pauses() (p gcPauses) {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return p
	}
	h := sample[0].Value.Float64Histogram()
	for i, n := range h.Counts {
		if n > 0 {
			limit := h.Buckets[i+1]
			if math.IsInf(limit, 1) {
				limit = h.Buckets[i]
			}
			p.Count += n
			p.Total += float64(n) * limit
			p.Max = limit
		}
	}
	return p
}
