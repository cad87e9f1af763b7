package seriesbench

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dustin/go-humanize"

	"weir/series"
	"weir/series/disk"
)

// Run is what came of writing points to a new store. Times are in seconds.
type Run struct {
	Series  int  `json:"series"`
	Threads int  `json:"threads"`
	Log     bool `json:"log"` // with a log, synced every 100 ms
	Points  int  `json:"points"`

	Seconds   float64 `json:"seconds"`   // from the first point until all were committed
	Processor float64 `json:"processor"` // what all cores worked for it meanwhile, the writing in the background included; 0 if not known
	Close     float64 `json:"close"`     // until the store was closed then, and all was in volumes

	Bytes         int64 `json:"bytes"`          // of all files, once closed
	VolumeBytes   int64 `json:"volume_bytes"`   // of those volumes
	VolumeWritten int64 `json:"volume_written"` // that were written to volumes
	Written       int64 `json:"written"`        // that were written to any file, the log included
}

// Rate is points a second until they were committed.
func (r Run) Rate() float64 { return float64(r.Points) / r.Seconds }

// ClosedRate is points a second until they were in volumes.
func (r Run) ClosedRate() float64 { return float64(r.Points) / (r.Seconds + r.Close) }

// CoreRate is points a second of one core.
func (r Run) CoreRate() float64 { return float64(r.Points) / r.Processor }

// BytesPerPoint counts all files, and VolumeBytesPerPoint volumes alone.
func (r Run) BytesPerPoint() float64       { return float64(r.Bytes) / float64(r.Points) }
func (r Run) VolumeBytesPerPoint() float64 { return float64(r.VolumeBytes) / float64(r.Points) }

// Amplification is how often what volumes have was written to them.
func (r Run) Amplification() float64 { return float64(r.VolumeWritten) / float64(r.VolumeBytes) }

// Ingest writes points to new stores: of each number of series, on each number of threads, with and without a log. The
// ways take turns, and each result is that of the median time of all repetitions.
func (b *Bench) Ingest(ctx context.Context) ([]Run, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	var all []Run
	for _, n := range b.Series {
		runs, err := b.ingest(ctx, n)
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	return all, nil
}

func (b *Bench) ingest(ctx context.Context, n int) ([]Run, error) {
	d, err := mixed(ctx, n, b.Points/n, n)
	if err != nil {
		return nil, err
	}
	var ways []Run
	for _, log := range []bool{true, false} {
		for _, threads := range b.Threads {
			ways = append(ways, Run{Series: n, Threads: threads, Log: log, Points: d.points()})
		}
	}
	done := make([][]Run, len(ways))
	for range b.Repetitions {
		for i, r := range ways {
			if err := b.inFolder(func(dir string) error { return r.measure(ctx, dir, d) }); err != nil {
				return nil, fmt.Errorf("write %s: %w", r.what(), err)
			}
			done[i] = append(done[i], r)
		}
	}
	for i, runs := range done {
		ways[i] = median(runs, func(r Run) float64 { return r.Seconds })
	}
	return ways, nil
}

// what says what a run does.
func (r *Run) what() string {
	text := fmt.Sprintf("%s series, %d threads", humanize.Comma(int64(r.Series)), r.Threads)
	if r.Threads == 1 {
		text = fmt.Sprintf("%s series, 1 thread", humanize.Comma(int64(r.Series)))
	}
	if r.Log {
		return text + ", log"
	}
	return text
}

// measure writes the points to a store, closes it and looks at what it has become.
func (r *Run) measure(ctx context.Context, dir string, d *data) error {
	debug.FreeOSMemory() // what others left is not to be collected in the middle
	settle()
	fs := &counted{FS: disk.OS()}
	if err := r.write(ctx, dir, d, fs); err != nil {
		return err
	}
	r.VolumeWritten = fs.volumes.Load()
	r.Written = r.VolumeWritten + fs.others.Load()
	z, err := measureSizes(ctx, dir, r.Points)
	r.Bytes, r.VolumeBytes = z.all, z.volumes
	return err
}

func (r *Run) write(ctx context.Context, dir string, d *data, fs disk.FS) error {
	var end time.Time
	err := withOptions(ctx, dir, series.Options{NoLog: !r.Log, FS: fs}, func(st *series.Store) error {
		ids, err := nameAll(ctx, st, d)
		if err != nil {
			return err
		}
		used := processorTime()
		took, err := d.write(ctx, st, ids, r.Threads, r.what())
		if err != nil {
			return err
		}
		r.Seconds, r.Processor = took.Seconds(), (processorTime() - used).Seconds()
		end = time.Now()
		return nil
	})
	r.Close = time.Since(end).Seconds()
	return err
}
