package series

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"weir/series/disk"
	"weir/series/names"
	"weir/series/node"
	"weir/series/volume"
	"weir/series/wal"
)

// VerifyReport is what Verify found.
type VerifyReport struct {
	Series, Nodes uint64
	Points        uint64 // in volumes
	Entries       uint64 // points and deletions in the log
	Cut           []Cut  // what Open would cut off, since it is not whole and was never confirmed as durable
	Damage        []*CorruptError
	Lost          []Lost
}

// OK reports whether everything was as it should be.
func (r *VerifyReport) OK() bool { return len(r.Damage) == 0 && len(r.Lost) == 0 }

// Lost is what was in a node that cannot be read.
type Lost struct {
	Series   string
	From, To int64 // times of its first and last point
	Points   uint64
	Err      error
}

func (l Lost) String() string {
	at := func(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }
	return fmt.Sprintf("series %q: %d points from %s to %s: %v", l.Series, l.Points, at(l.From), at(l.To), l.Err)
}

// VerifyOptions are those of Verify.
type VerifyOptions struct {
	Progress func(done, total int64) // series; may be nil
	FS       disk.FS                 // disk.OS() if nil
}

// Verify reads everything that a store has, which must not be open, and says what is damaged, and what was in it. It
// changes nothing. The error is of what kept it from looking.
func Verify(ctx context.Context, dir string, o VerifyOptions) (*VerifyReport, error) {
	if o.FS == nil {
		o.FS = disk.OS()
	}
	r, err := verify(ctx, o.FS, filepath.Clean(dir), o.Progress)
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", dir, err)
	}
	return r, nil
}

func verify(ctx context.Context, f disk.FS, dir string, progress func(done, total int64)) (*VerifyReport, error) {
	entries, err := f.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if hasEntry(entries, unfinished) {
		return nil, errUnfinished
	}
	if !hasEntry(entries, "names") {
		return nil, fmt.Errorf("%w: there are no names in it", ErrNotStore)
	}
	lock, err := f.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	v := verifier{ctx: ctx, dir: dir, r: &VerifyReport{}, progress: progress}
	v.s = &Store{dir: dir, fs: f}
	v.s.recovery.mu = newMutex()
	defer func() {
		for i := range v.s.shards {
			if sh := &v.s.shards[i]; sh.forest != nil {
				_ = sh.forest.Release()
			}
		}
		if v.s.volumes != nil {
			_ = v.s.volumes.Close()
		}
	}()
	for _, step := range []func() error{v.manifest, v.names, v.volumes, v.log, v.trees} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v.r, nil
}

type verifier struct {
	ctx      context.Context
	dir      string
	s        *Store // with no more than what reading needs
	index    *names.Index
	r        *VerifyReport
	progress func(done, total int64)
	known    bool
}

func (v *verifier) damage(e *CorruptError) {
	if len(v.r.Damage) < maxDamage {
		v.r.Damage = append(v.r.Damage, e)
	}
}

func (v *verifier) manifest() (err error) {
	v.s.manifest, err = readManifest(v.s.fs, v.dir)
	var damage *CorruptError
	switch {
	case errors.As(err, &damage):
		v.damage(damage)
	case errors.Is(err, fs.ErrNotExist):
		v.damage(&CorruptError{Path: filepath.Join(v.dir, manifestName), What: "the manifest", Err: err})
	case err != nil:
		return err
	default:
		v.known = true
	}
	return nil
}

func (v *verifier) names() error {
	index, r, err := names.Read(v.ctx, v.s.fs, filepath.Join(v.dir, "names"))
	var damage *names.CorruptError
	if errors.As(err, &damage) {
		v.damage(&CorruptError{Path: damage.Path, Offset: damage.Offset, What: "the file of names", Err: damage.Err})
	} else if err != nil {
		return err
	}
	if r.Cut > 0 {
		v.r.Cut = append(v.r.Cut, Cut{r.Path, r.Offset, r.Cut})
	}
	v.index = index
	v.r.Series = uint64(index.Len())
	return nil
}

// volumes reads all nodes, and builds the trees from the checkpoint and from them.
func (v *verifier) volumes() (err error) {
	s := v.s
	if s.volumes, err = volume.Open(s.fs, filepath.Join(v.dir, "volumes"), volume.Options{Reserve: -1}); err != nil {
		return err
	}
	if err := s.newForests(); err != nil {
		return err
	}
	from, durable, err := s.loadCheckpoint()
	if err != nil {
		return err
	}
	durable = max(durable, s.manifest.durable)
	var torn *volume.CorruptError
	_, err = s.volumes.Scan(0, func(at uint64, length int, payload []byte) error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if torn != nil {
			return errTorn
		}
		v.r.Nodes++
		h, _, err := node.DecodeHeader(payload)
		if err == nil && at >= from {
			err = s.shards[h.Series%shardCount].forest.Restore(at, length, payload)
		}
		if err != nil {
			v.damage(&CorruptError{Path: filepath.Join(v.dir, "volumes"), Offset: int64(at), Length: int64(length), What: "a node", Err: err})
		}
		return nil
	}, func(e *volume.CorruptError) {
		if v.known && address(e) >= max(durable, 1) {
			if torn == nil {
				torn = e
			}
			return
		}
		v.damage(&CorruptError{Path: e.Path, Offset: e.Offset, Length: e.Length, What: "a volume", Err: e.Err})
	})
	if errors.Is(err, errTorn) {
		err = nil
	}
	if torn != nil {
		v.r.Cut = append(v.r.Cut, Cut{torn.Path, torn.Offset, torn.Length})
	}
	v.r.Damage = append(v.r.Damage, s.recovery.Damage...)
	return err
}

var errTorn = errors.New("what is behind it is cut off as well")

// log reads the log.
func (v *verifier) log() error {
	r, err := wal.Scan(v.s.fs, filepath.Join(v.dir, "log"), func(f wal.Frame) error {
		return decodeFrame(f.Payload, func(entry) error { v.r.Entries++; return v.ctx.Err() })
	}, func(e *wal.CorruptError) {
		v.damage(&CorruptError{Path: e.Path, Offset: e.Offset, What: "the log", Err: e.Err})
	})
	if r.Cut > 0 {
		v.r.Cut = append(v.r.Cut, Cut{r.Path, r.Offset, r.Cut})
	}
	return err
}

// trees reads every series through its tree.
func (v *verifier) trees() error {
	next := v.index.Next()
	for id := range next {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		name := v.index.Name(id)
		if name == "" {
			continue
		}
		forest := v.s.shards[id%shardCount].forest
		forest.Verify(id, func(ref node.Ref, err error) {
			if len(v.r.Lost) < maxDamage {
				v.r.Lost = append(v.r.Lost, Lost{name, ref.FirstTime, ref.LastTime, ref.Count, err})
			}
		})
		if total, ok := forest.Total(id); ok {
			v.r.Points += total.Count
		} else if a, err := forest.View(id, -1<<63, 1<<63-1).Aggregate(); err == nil {
			v.r.Points += a.Count
		}
		if v.progress != nil && (id%256 == 0 || id+1 == next) {
			v.progress(int64(id)+1, int64(next))
		}
	}
	return nil
}

// address is where in the volumes damage begins.
func address(e *volume.CorruptError) uint64 {
	var number uint64
	_, _ = fmt.Sscanf(filepath.Base(e.Path), "volume-%d.wsv", &number)
	return number<<40 | uint64(e.Offset)
}
