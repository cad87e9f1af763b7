package text

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir/internal/sharedata"
)

// Real tables must be read as package time and strconv read them.
func TestRealTables(t *testing.T) {
	for _, name := range []string{"Twitter_volume_AAPL", "ec2_cpu_utilization_24ae8d", "machine_temperature_system_failure", "nyc_taxi"} {
		raw, err := os.ReadFile(sharedata.Path(t, "series/nab/"+name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, string(raw), Options{Metric: name, Tags: "source=nab"})
		lines := bufio.NewScanner(strings.NewReader(string(raw)))
		lines.Scan() // the header
		n := 0
		for ; lines.Scan(); n++ {
			when, what, _ := strings.Cut(lines.Text(), ",")
			at, err := time.Parse("2006-01-02 15:04:05", when)
			if err != nil {
				t.Fatal(err)
			}
			v, err := strconv.ParseFloat(what, 64)
			if err != nil {
				t.Fatal(err)
			}
			want := point{name: name + " source=nab", time: at.UnixNano(), bits: math.Float64bits(v)}
			if n >= len(got) || got[n] != want {
				t.Fatalf("%s: point %d of %d is not %v", name, n, len(got), want)
			}
		}
		if n != len(got) || n < 1000 {
			t.Errorf("%s: %d points, want %d", name, len(got), n)
		}
	}
}
