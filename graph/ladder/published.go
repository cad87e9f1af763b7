package ladder

// PublishedGraphs are the graphs that [Published] figures were measured on.
var PublishedGraphs = [2]struct {
	Name  string
	Edges int64
}{{"twitter_rv", 1_468_365_182}, {"uk-2007-05", 3_738_733_648}}

// PublishedIterations is the number of iterations of PageRank that were timed.
const PublishedIterations = 20

// Published is a row of a table of McSherry, Isard and Murray, "Scalability! But at
// what COST?" (HotOS 2015).
type Published struct {
	System  string
	Cores   int // 1 for the paper's own programs
	Task    string
	Seconds [2]float64 // on PublishedGraphs; 0 where none were given
	AtLeast bool       // the second of them is only a bound from below
}

// Systems are the published rows of a task: systems of many cores, then the paper's
// own programs, the best of them last.
func Systems(task string) []Published {
	if task == PageRank {
		return []Published{
			{"GraphChi", 2, PageRank, [2]float64{3160, 6972}, false},
			{"Stratosphere", 16, PageRank, [2]float64{2250, 0}, false},
			{"X-Stream", 16, PageRank, [2]float64{1488, 0}, false},
			{"Spark", 128, PageRank, [2]float64{857, 1759}, false},
			{"Giraph", 128, PageRank, [2]float64{596, 1235}, false},
			{"GraphLab", 128, PageRank, [2]float64{249, 833}, false},
			{"GraphX", 128, PageRank, [2]float64{419, 462}, false},
			{"single thread, vertex order", 1, PageRank, [2]float64{300, 651}, false},
			{"single thread, Hilbert order", 1, PageRank, [2]float64{110, 256}, false},
		}
	}
	return []Published{
		{"Stratosphere", 16, Components, [2]float64{950, 0}, false},
		{"X-Stream", 16, Components, [2]float64{1159, 0}, false},
		{"Spark", 128, Components, [2]float64{1784, 8000}, true},
		{"Giraph", 128, Components, [2]float64{200, 8000}, true},
		{"GraphLab", 128, Components, [2]float64{242, 714}, false},
		{"GraphX", 128, Components, [2]float64{251, 800}, false},
		{"single thread, label propagation", 1, Components, [2]float64{153, 417}, false},
		{"single thread, union-find", 1, Components, [2]float64{15, 30}, false},
	}
}

// Single says that the row is one of the paper's own programs.
func (p Published) Single() bool { return p.Cores == 1 }

// Bounded says that the time on PublishedGraphs[i] is only a bound from below.
func (p Published) Bounded(i int) bool { return p.AtLeast && i == 1 }

// Rate is edges a second on PublishedGraphs[i]: of all iterations for PageRank, of
// the graph once for components. It is 0 where no time was given.
func (p Published) Rate(i int) float64 {
	if p.Seconds[i] == 0 {
		return 0
	}
	passes := 1.0
	if p.Task == PageRank {
		passes = PublishedIterations
	}
	return float64(PublishedGraphs[i].Edges) * passes / p.Seconds[i]
}

// Match is how many of the system's cores, as fast as on PublishedGraphs[0], would
// match a rate of one thread if they scaled without loss.
func (p Published) Match(rate float64) float64 { return float64(p.Cores) * rate / p.Rate(0) }
