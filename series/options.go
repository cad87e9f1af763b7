package series

import (
	"errors"
	"fmt"
	"time"

	"weir/series/disk"
	"weir/series/names"
	"weir/series/volume"
	"weir/series/wal"
)

// SyncMode is how durable a point is once Commit returned.
type SyncMode int

// The modes. In all of them what Commit confirmed outlives the program.
const (
	SyncInterval SyncMode = iota // the machine may lose what was confirmed within the last Options.SyncInterval
	SyncAlways                   // the machine loses nothing that was confirmed
	SyncNever                    // it is left to the system what outlives the machine
)

func (m SyncMode) wal() wal.Mode {
	return [...]wal.Mode{SyncInterval: wal.Interval, SyncAlways: wal.Always, SyncNever: wal.Never}[m]
}

// String is the name of the mode, which ParseSyncMode knows.
func (m SyncMode) String() string {
	switch m {
	case SyncInterval:
		return "interval"
	case SyncAlways:
		return "always"
	case SyncNever:
		return "never"
	}
	return fmt.Sprintf("SyncMode(%d)", int(m))
}

// ParseSyncMode is the mode of a name: always, interval or never.
func ParseSyncMode(name string) (SyncMode, error) {
	for m := SyncInterval; m <= SyncNever; m++ {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("sync mode %q; expected always, interval or never", name)
}

// Retention says how long points of some series are kept.
type Retention struct {
	Where []names.Match // all of them are met; none is all series
	Age   time.Duration // points whose time is longer ago are taken away, as soon as those that are stored together with them are as old
}

// Options are how a store works. The zero value is right for most.
type Options struct {
	Sync         SyncMode
	SyncInterval time.Duration // between fsyncs in mode SyncInterval; 100 ms if 0
	NoLog        bool          // no log: points that are not in volumes yet are lost if the program is killed
	Memory       int64         // bytes for what is open of series; if 0, 40 MiB and 800 B for each series
	LogSize      int64         // bytes of log above which points are written to volumes so that it can be cut; 512 MiB if 0
	VolumeSize   int64         // bytes; 256 MiB if 0
	Volumes      int           // how many there are at most, the oldest of which makes room for a new one; 0 for no limit
	Reserve      int64         // bytes of the disk that volumes leave free, and the log half of them; 64 MiB if 0, none if negative
	Retention    []Retention
	// KeepLast makes only the last of points of one time of a series count, in the order in which they came; otherwise all
	// do. It is a property of the store, set when that is made; whoever opens it later need not say it. Of events all
	// count.
	KeepLast  bool
	MaxSeries int         // how many series there may be; 0 for no limit
	OnProblem func(error) // is told what goes wrong while nobody waits for it, by any goroutine; it must not call Close
	FS        disk.FS     // disk.OS() if nil

	segment int64 // bytes of a segment of the log: tests make it small
}

// logReserve is how many bytes of the disk the log leaves free: less than volumes do, so that what they cannot take is
// durable all the same for a while, and enough for a checkpoint and for the names, without which nothing could be
// deleted.
func (o *Options) logReserve() int64 {
	if o.Reserve == 0 {
		return volume.DefaultReserve / 2
	}
	return max(o.Reserve, 0) / 2
}

func (o *Options) check() error {
	if o.FS == nil {
		o.FS = disk.OS()
	}
	if o.LogSize == 0 {
		o.LogSize = 512 << 20
	}
	if o.segment == 0 {
		o.segment = min(max(o.LogSize/8, 1<<20), 64<<20)
	}
	if o.OnProblem == nil {
		o.OnProblem = func(error) {}
	}
	switch {
	case o.Sync < SyncInterval || o.Sync > SyncNever:
		return fmt.Errorf("options: sync mode %d; expected SyncInterval, SyncAlways or SyncNever", o.Sync)
	case o.Memory < 0, o.LogSize < 0, o.MaxSeries < 0:
		return errors.New("options: a negative size; expected 0 for the default, or more")
	case o.Volumes == 1 || o.Volumes < 0:
		return fmt.Errorf("options: %d volumes; expected 0 for no limit, or 2 at least", o.Volumes)
	}
	for _, r := range o.Retention {
		if r.Age <= 0 {
			return fmt.Errorf("options: retention of %v; expected more than 0", r.Age)
		}
	}
	return nil
}

// Errors that callers test for.
var (
	ErrLocked   = disk.ErrLocked // another program has the store open
	ErrFull     = volume.ErrFull // the disk is full but for the reserve; there may be room later
	ErrClosed   = errors.New("the store is closed")
	ErrNotStore = errors.New("not a series store")
	ErrLimit    = errors.New("there are as many series as Options.MaxSeries allows")
	ErrKeepsAll = errors.New("it keeps all points of one time, not the last one only, which is for a store to begin with")
)
