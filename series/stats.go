package series

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"

	"weir/series/disk"
	"weir/series/volume"
)

// Stats is what a store has and did.
type Stats struct {
	Series      int
	Points      uint64 // that can be read now
	First, Last int64  // their least and greatest time, if there are any
	KeepLast    bool   // see Options

	VolumeBytes, LogBytes, NameBytes, CheckpointBytes int64 // of files

	OpenBytes int64 // memory of what is open of series
	NameIndex int64 // memory of names

	Volumes []volume.Info
	IO      volume.Stats // since Open
}

// Bytes is how many bytes all files have.
func (s *Stats) Bytes() int64 { return s.VolumeBytes + s.LogBytes + s.NameBytes + s.CheckpointBytes }

// Stats counts what there is. It looks at every series; series with late points or deletions are read.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return Stats{}, ErrClosed
	}
	st := Stats{
		Series: s.names.Len(), NameIndex: int64(s.names.Bytes()), Volumes: s.volumes.List(), IO: s.volumes.Stats(),
		First: math.MaxInt64, Last: math.MinInt64, KeepLast: s.manifest.keepLast,
	}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		st.OpenBytes += int64(sh.forest.Memory())
		sh.mu.Unlock()
	}
	all, err := s.names.Find(ctx, nil)
	if err != nil {
		return st, err
	}
	for id := range all.All() {
		if err := ctx.Err(); err != nil {
			return st, err
		}
		a, err := s.Aggregate(ctx, id, math.MinInt64, math.MaxInt64)
		if err != nil {
			return st, err
		}
		if a.Count > 0 {
			st.Points += a.Count
			st.First, st.Last = min(st.First, a.FirstTime), max(st.Last, a.LastTime)
		}
	}
	if st.Points == 0 {
		st.First, st.Last = 0, 0
	}
	for dir, bytes := range map[string]*int64{"volumes": &st.VolumeBytes, "log": &st.LogBytes, "names": &st.NameBytes, "": &st.CheckpointBytes} {
		if err := addSizes(s.fs, filepath.Join(s.dir, dir), bytes); err != nil {
			return st, err
		}
	}
	return st, nil
}

// addSizes adds the sizes of the files in a directory, if there is one.
func addSizes(f disk.FS, dir string, bytes *int64) error {
	entries, err := f.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !e.Dir {
			*bytes += e.Size
		}
	}
	return nil
}
