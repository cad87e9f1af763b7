package text

import (
	"os"
	"strings"
	"testing"

	"weir/graph/names"
	"weir/internal/sharedata"
)

// openflights is where the demo keeps its airports and routes.
const openflights = "../../testdata/openflights/"

// realFile is one that the repository carries, else one of the shared data.
func realFile(t *testing.T, name string) string {
	for _, path := range []string{"testdata/" + name, openflights + name} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return sharedata.Path(t, "graphs/"+name)
}

func TestLabelsOfRealAirports(t *testing.T) {
	labels, err := openLabels(openflights+"airports.dat.gz", 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	if labels["GVA"] != "Geneva Cointrin International Airport" || labels["LHR"] != "London Heathrow Airport" || labels[`\N`] != "" {
		t.Errorf("GVA is %q, LHR is %q among %d", labels["GVA"], labels["LHR"], len(labels))
	}
}

// The counts are those that the collection of the files states.
func TestReadRealFiles(t *testing.T) {
	for _, c := range []struct {
		file            string
		opt             Options
		vertices, edges int
		kind            names.Kind
		format          Format
		weighted        bool
	}{
		{"wiki-Vote.txt.gz", Options{}, 7115, 103689, names.Increasing, EdgeList, false},
		{"facebook_combined.txt.gz", Options{}, 4039, 88234, names.Identity, EdgeList, false},
		{"soc-Slashdot0902.txt.gz", Options{}, 82168, 948464, names.Identity, EdgeList, false},
		{"cit-HepTh.el.gz", Options{}, 27770, 352807, names.Identity, EdgeList, false},
		{"ldbc-snb-sf0.1-knows.el.gz", Options{}, 1357, 14073, names.Listed, EdgeList, false},
		{"uk-2007-05-100000.el.gz", Options{}, 100000, 3050615, names.Identity, EdgeList, false},
		{"road-monaco.wel.gz", Options{}, 4770, 9128, names.Identity, EdgeList, true},
		{"road-andorra.wel.gz", Options{}, 38428, 75990, names.Identity, EdgeList, true},
		{"routes.dat.gz", Options{Columns: []int{3, 5}}, 3425, 67663, names.Text, EdgeList, false},
		{"polblogs.graph", Options{}, 1490, 2 * 16715, names.Shifted, METIS, false},
		{"PGPgiantcompo.graph.gz", Options{}, 10680, 2 * 24316, names.Shifted, METIS, false},
		{"delaunay_n15.graph.gz", Options{}, 32768, 2 * 98274, names.Shifted, METIS, false},
		{"bips98_606.mtx", Options{}, 7135, 34738, names.Shifted, MatrixMarket, true},
	} {
		t.Run(c.file, func(t *testing.T) {
			if testing.Short() && c.edges > 500_000 {
				t.Skip("a large file")
			}
			in, err := Open(realFile(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			g, err := load(in, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if g.Vertices != c.vertices || int(g.Edges) != c.edges || g.Names.Kind() != c.kind || g.Report.Format != c.format || g.Weighted != c.weighted {
				t.Errorf("%d vertices, %d edges, names %v, %v, weighted %v", g.Vertices, g.Edges, g.Names.Kind(), g.Report.Format, g.Weighted)
			}
			if g.Report.Bad+g.Report.Missing > 0 || !strings.Contains(g.Report.String(), c.file) {
				t.Errorf("report: %v", g.Report)
			}
		})
	}
}
