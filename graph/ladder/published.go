package ladder

// Published is how long a system took on many cores, on twitter_rv, a graph of
// 1,468,365,182 edges.
type Published struct {
	System  string
	Cores   int
	Task    string
	Seconds float64
}

// PublishedEdges is the number of edges of twitter_rv.
const PublishedEdges = 1_468_365_182

// PublishedIterations is the number of iterations of PageRank that were timed.
const PublishedIterations = 20

// Systems are the figures that McSherry, Isard and Murray collected in "Scalability!
// But at what COST?" (HotOS 2015), tables 2 and 3.
func Systems() []Published {
	return []Published{
		{"GraphChi", 2, PageRank, 3160},
		{"Stratosphere", 16, PageRank, 2250},
		{"X-Stream", 16, PageRank, 1488},
		{"Spark", 128, PageRank, 857},
		{"Giraph", 128, PageRank, 596},
		{"GraphLab", 128, PageRank, 249},
		{"GraphX", 128, PageRank, 419},
		{"Stratosphere", 16, Components, 950},
		{"X-Stream", 16, Components, 1159},
		{"Spark", 128, Components, 1784},
		{"Giraph", 128, Components, 200},
		{"GraphLab", 128, Components, 242},
		{"GraphX", 128, Components, 251},
	}
}

// Rate is edges a second: of all iterations for PageRank, of the graph once for
// components.
func (p Published) Rate() float64 {
	if p.Task == PageRank {
		return PublishedEdges * PublishedIterations / p.Seconds
	}
	return PublishedEdges / p.Seconds
}

// Match is how many of the system's cores would match a rate of one thread if they
// scaled without loss.
func (p Published) Match(rate float64) float64 { return float64(p.Cores) * rate / p.Rate() }
