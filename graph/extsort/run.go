package extsort

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/zeebo/xxh3"

	"weir/internal/eliasfano"
	"weir/internal/par"
)

// A run's file is runMagic and then blocks, little-endian:
//
//	checksum  uint64    xxh3 of all that follows
//	size      uint32    bytes of the frames
//	edges     uint32    at least 1
//	first     uint64    key, the base of the first frame
//	frames    see package eliasfano; the base of each is the key before it
//	weights   edges × float32, in weighted runs
//
// Only the process that wrote it reads it.
const (
	runMagic    = "weirrun1"
	blockHeader = 24

	writeBuffer       = 256 << 10
	encodersPerThread = 4
)

// readBuffer is the size of the buffer through which blocks of a run are read.
func readBuffer(block int) int { return 16 * block }

// blockBytes is the largest size of a block of n edges in memory.
func blockBytes(n int, weighted bool) int {
	size := blockHeader + (n+eliasfano.FrameLen-1)/eliasfano.FrameLen*eliasfano.MaxSize + eliasfano.Slack
	if weighted {
		size += 4 * n
	}
	return size
}

// A run is a sorted run on disk.
type run struct {
	path  string
	raw   bool // to be renumbered
	edges int64
}

// forget deletes the run's file. An error would show up again when the
// directory is removed.
func (r *run) forget() { _ = os.Remove(r.path) }

// A runWriter writes a run.
type runWriter struct {
	s      *Sorter
	run    *run
	file   io.WriteCloser
	out    *bufio.Writer
	blocks [][]byte // one for each block that is encoded at the same time
	bytes  int64
}

func (s *Sorter) newRun(raw bool) (*runWriter, error) {
	r := &run{path: s.runPath(), raw: raw}
	f, err := s.create(r.path)
	if err != nil {
		return nil, fmt.Errorf("create sorted run: %w", err)
	}
	w := &runWriter{s: s, run: r, file: f, out: bufio.NewWriterSize(f, writeBuffer), blocks: make([][]byte, encodersPerThread*s.threads)}
	// An error of a buffered writer stays until Flush.
	_, _ = w.out.WriteString(runMagic)
	return w, nil
}

// write appends sorted keys, which go on from those written before.
func (w *runWriter) write(ctx context.Context, keys []uint64, weights []float32) error {
	block := w.s.layout.block
	group := block * len(w.blocks)
	for lo := 0; lo < len(keys); lo += group {
		end := min(lo+group, len(keys))
		err := par.Range(ctx, w.s.threads, end-lo, block, func(_, from, to int) {
			var part []float32
			if weights != nil {
				part = weights[lo+from : lo+to]
			}
			slot := &w.blocks[from/block]
			*slot = encodeBlock((*slot)[:0], keys[lo+from:lo+to], part, block)
		})
		if err != nil {
			return err
		}
		for i := range (end - lo + block - 1) / block {
			if _, err := w.out.Write(w.blocks[i]); err != nil {
				return w.explain(err)
			}
			w.bytes += int64(len(w.blocks[i]))
		}
	}
	w.run.edges += int64(len(keys))
	return nil
}

// encodeBlock writes a block into dst, which has room for most edges or is nil.
func encodeBlock(dst []byte, keys []uint64, weights []float32, most int) []byte {
	if dst == nil {
		dst = make([]byte, 0, blockBytes(most, weights != nil))
	}
	data := dst[:cap(dst)]
	clear(data[:blockBytes(len(keys), false)])
	at, base := blockHeader, keys[0]
	for rest := keys; len(rest) > 0; {
		n := min(len(rest), eliasfano.FrameLen)
		at += eliasfano.Write(data[at:], base, rest[:n])
		base, rest = rest[n-1], rest[n:]
	}
	binary.LittleEndian.PutUint32(data[8:], uint32(at-blockHeader))
	binary.LittleEndian.PutUint32(data[12:], uint32(len(keys)))
	binary.LittleEndian.PutUint64(data[16:], keys[0])
	data = data[:at]
	for _, w := range weights {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(w))
	}
	binary.LittleEndian.PutUint64(data, xxh3.Hash(data[8:]))
	return data
}

// close ends the run's file.
func (w *runWriter) close() (*run, error) {
	err := w.out.Flush()
	if err = errors.Join(err, w.file.Close()); err != nil {
		return nil, w.explain(err)
	}
	return w.run, nil
}

func (w *runWriter) explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("write sorted run %s: the disk is full after %s of this run and %d runs before; a larger memory budget does not help, another directory for temporary files does: %w",
			w.run.path, humanize.IBytes(uint64(w.bytes)), len(w.s.runs), err)
	}
	return fmt.Errorf("write sorted run %s: %w", w.run.path, err)
}

// errDamaged says that a run is not what was written.
var errDamaged = errors.New("the file is damaged or was changed")

// A runReader reads a run, or sorted edges in memory, block by block. What is
// loaded and not yet taken is keys[lo:hi].
type runReader struct {
	run     *run // nil for memory
	file    *os.File
	in      *bufio.Reader
	block   int
	number  Renumberer // or nil
	keys    []uint64
	weights []float32
	lo, hi  int
	left    int64 // edges not yet loaded
}

func (s *Sorter) openRun(r *run, number Renumberer) (*runReader, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, fmt.Errorf("open sorted run: %w", err)
	}
	block := s.layout.block
	in := &runReader{run: r, file: f, in: bufio.NewReaderSize(f, readBuffer(block)), block: block, left: r.edges, keys: make([]uint64, 2*block)}
	if r.raw {
		in.number = number
	}
	if s.opt.Weighted {
		in.weights = make([]float32, 2*block)
	}
	magic, err := in.in.Peek(len(runMagic))
	if err == nil && !bytes.Equal(magic, []byte(runMagic)) {
		err = errDamaged
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read sorted run %s: %w", r.path, err)
	}
	_, _ = in.in.Discard(len(runMagic)) // was peeked
	return in, nil
}

// memoryReader reads edges that are sorted in memory.
func (s *Sorter) memoryReader(keys []uint64, weights []float32, number Renumberer) *runReader {
	return &runReader{block: s.layout.block, number: number, keys: keys, weights: weights, left: int64(len(keys))}
}

func (r *runReader) close() {
	if r.file != nil {
		r.file.Close() // was only read
	}
}

// load makes sure that at least a block is loaded, or all that is left. Scratch
// has room for a block.
func (r *runReader) load(scratch []byte) error {
	if r.file == nil {
		if n := min(int64(2*r.block-(r.hi-r.lo)), r.left); r.hi-r.lo < r.block && n > 0 {
			r.loaded(int(n))
		}
		return nil
	}
	if r.hi-r.lo >= r.block || r.left == 0 {
		return nil
	}
	copy(r.keys, r.keys[r.lo:r.hi])
	if r.weights != nil {
		copy(r.weights, r.weights[r.lo:r.hi])
	}
	r.lo, r.hi = 0, r.hi-r.lo
	for r.hi < r.block && r.left > 0 {
		n, err := r.readBlock(scratch)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errDamaged
			}
			return fmt.Errorf("read sorted run %s: %d edges before the end: %w", r.run.path, r.left, err)
		}
		r.loaded(n)
	}
	return nil
}

// loaded says that n more edges stand in keys.
func (r *runReader) loaded(n int) {
	if r.number != nil {
		r.number.Apply(r.keys[r.hi : r.hi+n])
	}
	r.hi += n
	r.left -= int64(n)
}

// readBlock reads a block to keys[hi:].
func (r *runReader) readBlock(scratch []byte) (int, error) {
	head := scratch[:blockHeader]
	if _, err := io.ReadFull(r.in, head); err != nil {
		return 0, err
	}
	size, n := int(binary.LittleEndian.Uint32(head[8:])), int(binary.LittleEndian.Uint32(head[12:]))
	weightBytes := 0
	if r.weights != nil {
		weightBytes = 4 * n
	}
	if n == 0 || n > r.block || int64(n) > r.left || blockHeader+size+weightBytes+eliasfano.Slack > len(scratch) {
		return 0, errDamaged
	}
	data := scratch[:blockHeader+size+weightBytes]
	if _, err := io.ReadFull(r.in, data[blockHeader:]); err != nil {
		return 0, err
	}
	if xxh3.Hash(data[8:]) != binary.LittleEndian.Uint64(data) {
		return 0, errDamaged
	}
	keys, base := r.keys[r.hi:r.hi+n], binary.LittleEndian.Uint64(head[16:])
	at := blockHeader
	for rest := keys; len(rest) > 0; {
		k := min(len(rest), eliasfano.FrameLen)
		used, err := eliasfano.Read(scratch[at:], base, rest[:k])
		if err != nil {
			return 0, err
		}
		at += used
		base, rest = rest[k-1], rest[k:]
	}
	if at != blockHeader+size {
		return 0, errDamaged
	}
	for i := range weightBytes / 4 {
		r.weights[r.hi+i] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*i:]))
	}
	return n, nil
}
