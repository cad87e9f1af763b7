package series

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/series/disk"
	"weir/series/tree"
)

// A checkpoint is a file with what the trees know of the nodes in volumes, so that opening need not read the volumes
// again: sections, each a page of a shard's trees, and one at the end that says that it is whole.
// docs/formats-series.md has the format.
const (
	checkpointMagic   = "\x89wsc0\r\n\x1a"
	checkpointVersion = 1
	checkpointHeader  = 24
	sectionHeader     = 16
	maxSection        = 64 << 20

	pageSection = 1
	endSection  = 2
	nameSection = 3
)

func checkpointPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("checkpoint-%08d.wsc", number))
}

// checkpoints lists the numbers of the checkpoints of a directory, the newest first.
func checkpoints(f disk.FS, dir string) ([]uint64, error) {
	entries, err := f.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		var n uint64
		if k, _ := fmt.Sscanf(e.Name, "checkpoint-%d.wsc", &n); k == 1 && checkpointPath(dir, n) == filepath.Join(dir, e.Name) {
			numbers = append(numbers, n)
		}
	}
	slices.SortFunc(numbers, func(a, b uint64) int { return -compare(a, b) })
	return numbers, nil
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Checkpoint makes everything durable that is in volumes, and writes down what the trees know of it, so that the next
// Open is quick. The store does so by itself from time to time, and when it is closed.
func (s *Store) Checkpoint() error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	return full(s.checkpoint())
}

func (s *Store) checkpoint() error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	return s.writeCheckpoint()
}

func (s *Store) writeCheckpoint() error {
	number := s.checkpointNumber + 1
	path := checkpointPath(s.dir, number)
	appended := s.volumes.Stats().AppendBytes
	var durable uint64
	size := int64(0)
	err := replaceFile(s.fs, path, func(w io.Writer) error {
		out := &sectionWriter{w: bufio.NewWriterSize(w, 1<<20)}
		out.header(number)
		var page []byte
		for i := range s.shards {
			for p := 0; ; p++ {
				var ok bool
				if page, ok = s.shards[i].page(page[:0], p); !ok {
					break
				}
				out.section(pageSection, i, page)
			}
		}
		// Names come last, so that those of all series in the pages are durable before these are.
		if err := s.names.Sync(); err != nil {
			return err
		}
		of, err := s.copyNames(out)
		if err != nil {
			return err
		}
		if durable, err = s.volumes.Sync(); err != nil {
			return err
		}
		end := binary.LittleEndian.AppendUint64(nil, durable)
		end = binary.LittleEndian.AppendUint64(end, out.sections)
		end = binary.LittleEndian.AppendUint64(end, uint64(of.size))
		end = append(end, of.name...)
		out.section(endSection, 0, end)
		size = out.size
		return out.flush()
	})
	if err != nil {
		return err
	}
	s.checkpointNumber, s.checkpointAt, s.checkpointSize = number, appended, size
	old, err := checkpoints(s.fs, s.dir)
	if err != nil {
		return err
	}
	for _, n := range old {
		if n != number {
			err = errors.Join(err, s.fs.Remove(checkpointPath(s.dir, n)))
		}
	}
	return err
}

// page appends a page of the shard's trees to dst; it is false behind the last one.
func (sh *shard) page(dst []byte, page int) ([]byte, bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.forest == nil || page >= sh.forest.Pages() {
		return dst, false
	}
	return sh.forest.AppendPage(dst, page), true
}

// sectionWriter writes a checkpoint. It keeps the first error for flush.
type sectionWriter struct {
	w        *bufio.Writer
	err      error
	sections uint64
	size     int64
}

func (w *sectionWriter) write(p []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(p)
	}
	w.size += int64(len(p))
}

func (w *sectionWriter) header(number uint64) {
	h := append([]byte(nil), checkpointMagic...)
	h = binary.LittleEndian.AppendUint32(h, checkpointVersion)
	h = binary.LittleEndian.AppendUint64(h, number)
	w.write(binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli)))
}

func (w *sectionWriter) section(kind, shard int, payload []byte) {
	var h [sectionHeader]byte
	binary.LittleEndian.PutUint32(h[0:], uint32(len(payload)))
	binary.LittleEndian.PutUint16(h[4:], uint16(kind))
	binary.LittleEndian.PutUint16(h[6:], uint16(shard))
	binary.LittleEndian.PutUint32(h[8:], uint32(w.sections))
	sum := crc32.Update(crc32.Checksum(h[:12], castagnoli), castagnoli, payload)
	binary.LittleEndian.PutUint32(h[12:], sum)
	w.sections++
	w.write(h[:])
	w.write(payload)
}

func (w *sectionWriter) flush() error {
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

// checkpointEnd is what the last section of a checkpoint says.
type checkpointEnd struct {
	durable uint64 // below which the volumes were durable
	names   namesFile
}

// readCheckpoint calls section with the pages of a checkpoint, and with what it has of the file of names. Damage is a
// *CorruptError.
func readCheckpoint(f disk.FS, path string, number uint64, section func(kind, shard int, payload []byte) error) (end checkpointEnd, err error) {
	file, err := f.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return end, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return end, err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<20)
	at := int64(0)
	damaged := func(format string, args ...any) error {
		return &CorruptError{Path: path, Offset: at, What: "a checkpoint", Err: fmt.Errorf(format, args...)}
	}
	var head [checkpointHeader]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return end, damaged("the header: %w", err)
	}
	if string(head[:8]) != checkpointMagic || crc32.Checksum(head[:20], castagnoli) != binary.LittleEndian.Uint32(head[20:]) {
		return end, damaged("it does not begin as a checkpoint")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != checkpointVersion {
		return end, damaged("version %d; this program reads version %d", v, checkpointVersion)
	}
	if n := binary.LittleEndian.Uint64(head[12:]); n != number {
		return end, damaged("it is number %d", n)
	}
	at = checkpointHeader
	for sections := uint64(0); ; sections++ {
		kind, shard, payload, err := readSection(in, size-at, uint32(sections))
		if err != nil {
			return end, damaged("section %d: %w", sections, err)
		}
		switch {
		case kind == pageSection && shard < shardCount, kind == nameSection:
			if err := section(kind, shard, payload); err != nil {
				return end, damaged("section %d: %w", sections, err)
			}
		case kind == endSection && len(payload) >= 24:
			if n := binary.LittleEndian.Uint64(payload[8:]); n != sections {
				return end, damaged("%d sections, want %d", sections, n)
			}
			if at += sectionHeader + int64(len(payload)); at != size {
				return end, damaged("%d bytes behind its end", size-at)
			}
			end.durable = binary.LittleEndian.Uint64(payload)
			end.names = namesFile{string(payload[24:]), int64(binary.LittleEndian.Uint64(payload[16:]))}
			return end, nil
		default:
			return end, damaged("section %d is of kind %d, shard %d, %d bytes", sections, kind, shard, len(payload))
		}
		at += sectionHeader + int64(len(payload))
	}
}

// readSection reads a section, whose payload belongs to the caller.
func readSection(in io.Reader, room int64, number uint32) (kind, shard int, payload []byte, err error) {
	var h [sectionHeader]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return 0, 0, nil, err
	}
	n := binary.LittleEndian.Uint32(h[:])
	if int64(n) > room-sectionHeader || n > maxSection {
		return 0, 0, nil, fmt.Errorf("%d bytes, more than there are", n)
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(in, payload); err != nil {
		return 0, 0, nil, err
	}
	if sum := crc32.Update(crc32.Checksum(h[:12], castagnoli), castagnoli, payload); sum != binary.LittleEndian.Uint32(h[12:]) {
		return 0, 0, nil, errors.New("its checksum is wrong")
	}
	if k := binary.LittleEndian.Uint32(h[8:]); k != number {
		return 0, 0, nil, fmt.Errorf("it is number %d", k)
	}
	return int(binary.LittleEndian.Uint16(h[4:])), int(binary.LittleEndian.Uint16(h[6:])), payload, nil
}

// loadCheckpoint fills the trees from the newest checkpoint that is whole. It returns the address from which on nodes
// must be read, and the one below which they are durable; 0 and 0 if there is no checkpoint.
func (s *Store) loadCheckpoint() (from, durable uint64, err error) {
	all, err := checkpoints(s.fs, s.dir)
	if err != nil {
		return 0, 0, err
	}
	for _, n := range all {
		s.checkpointNumber = max(s.checkpointNumber, n)
	}
	for _, n := range all {
		path := checkpointPath(s.dir, n)
		from, durable, err := s.loadPages(path, n)
		var damage *CorruptError
		if err == nil {
			if size, err := s.fs.Size(path); err == nil {
				s.checkpointSize = size
			}
			return from, durable, nil
		}
		if !errors.As(err, &damage) {
			return 0, 0, err
		}
		s.recovery.damage(damage)
		if err := s.newForests(); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, nil
}

func (s *Store) loadPages(path string, number uint64) (from, durable uint64, err error) {
	lowest := ^uint64(0)
	positions := make([]uint64, shardCount)
	for i := range positions {
		positions[i] = ^uint64(0)
	}
	team := newTeam(func(t task) error {
		sh := &s.shards[t.shard]
		position, rest, err := sh.forest.LoadPage(t.payload)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d bytes behind a page", len(rest))
		}
		positions[t.shard] = min(positions[t.shard], position)
		return err
	})
	end, err := readCheckpoint(s.fs, path, number, func(kind, shard int, payload []byte) error {
		if kind != pageSection {
			return nil
		}
		return team.give(task{shard: shard, payload: payload})
	})
	if e := team.wait(); err == nil && e != nil {
		err = &CorruptError{Path: path, What: "a checkpoint", Err: e}
	}
	if err != nil {
		return 0, 0, err
	}
	for _, p := range positions {
		lowest = min(lowest, p)
	}
	s.namesThen = end.names
	return min(lowest, end.durable), end.durable, nil
}

// newForests gives every shard an empty forest.
func (s *Store) newForests() error {
	var err error
	for i := range s.shards {
		sh := &s.shards[i]
		if sh.forest != nil {
			err = errors.Join(err, sh.forest.Release())
		}
		sh.forest = tree.New(s.volumes, firstOf(i), shardCount, tree.DefaultLimits)
		if s.manifest.keepLast {
			sh.forest.KeepLast()
		}
	}
	return err
}

// isTemporary reports whether a file is what is left of one that was being written.
func isTemporary(name string) bool { return strings.HasSuffix(name, ".tmp") }
