package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// sampleSize is how much of a text is looked at to find out what it is.
const sampleSize = 256 << 10

// Input is a text to read: plain or compressed, a file, standard input or any
// reader. It is read once.
type Input struct {
	name        string
	file        io.Closer   // what Close closes, or nil
	at          io.ReaderAt // plain text that can be read anywhere, or nil
	size        int64       // of the file as it is stored; 0 where it is not known
	r           io.Reader   // the text as a stream behind sample, or nil
	stored      *counter    // counts what was read of a compressed file or stream
	decoder     io.Closer   // of zstd
	compression string

	sample []byte // the beginning of the text
	whole  bool   // sample is all of it
	broken error  // why reading ended early
	used   bool   // Read has begun
}

// Open opens a file, or standard input for "-". Text compressed with gzip or
// zstd is recognised by its first bytes.
func Open(path string) (*Input, error) {
	f, name := os.Stdin, "standard input"
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, fmt.Errorf("open graph: %w", err)
		}
		name = path
	}
	in, err := openFile(name, f)
	if err != nil && f != os.Stdin {
		f.Close()
	}
	return in, err
}

func openFile(name string, f *os.File) (*Input, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open graph: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("open graph %s: it is a directory", name)
	}
	in := &Input{name: name}
	if f != os.Stdin {
		in.file = f
	}
	// A shell may hand us a file that was read in part, and those of /proc say
	// that they are empty: these are streams.
	if offset, err := f.Seek(0, io.SeekCurrent); info.Mode().IsRegular() && err == nil && offset == 0 && info.Size() > 0 {
		in.at, in.size = f, info.Size()
	}
	return in, in.begin(f)
}

// NewInput reads from r; name is for messages. Nothing closes r.
func NewInput(name string, r io.Reader) (*Input, error) {
	in := &Input{name: name}
	return in, in.begin(r)
}

// NewInputAt reads size bytes of r, from several goroutines at the same time;
// name is for messages.
func NewInputAt(name string, r io.ReaderAt, size int64) (*Input, error) {
	in := &Input{name: name, at: r, size: size}
	return in, in.begin(io.NewSectionReader(r, 0, size))
}

// begin finds out about compression and takes the sample.
func (in *Input) begin(r io.Reader) error {
	in.stored = &counter{r: r}
	head := make([]byte, 8)
	n, err := fill(in.stored, head)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read graph %s: %w", in.name, err)
	}
	head = head[:n]
	again := io.MultiReader(bytes.NewReader(head), in.stored)
	in.compression = compression(head)
	switch in.compression {
	case "":
		in.r = again
	case "gzip":
		if in.r, err = gzip.NewReader(again); err != nil {
			return in.explain(err)
		}
	case "zstd":
		d, err := zstd.NewReader(again, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return in.explain(err)
		}
		in.r, in.decoder = d, d.IOReadCloser()
	default:
		return fmt.Errorf("read graph %s: %s is not supported: unpack it first", in.name, in.compression)
	}
	if in.compression != "" {
		in.at = nil
	}
	return in.look(sampleSize)
}

// compression recognises the first bytes of a compressed file.
func compression(head []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"\x1f\x8b", "gzip"},
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"\xfd7zXZ", "xz"},
		{"PK\x03\x04", "zip"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.name
		}
	}
	if len(head) >= 8 && string(head[:3]) == "BZh" && string(head[4:8]) == "1AY&" {
		return "bzip2"
	}
	// A zstd file may begin with a frame to skip.
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" {
		return "zstd"
	}
	return ""
}

// look makes the sample at least n bytes long, if there are so many. What is
// wrong with the text behind the first bytes is an error later, in its place.
func (in *Input) look(n int) error {
	have := len(in.sample)
	if have >= n || in.whole || in.broken != nil {
		return nil
	}
	in.sample = append(in.sample, make([]byte, n-have)...)
	k, err := fill(in.r, in.sample[have:])
	in.sample = in.sample[:have+k]
	if err == io.EOF {
		in.whole = true
	} else if err != nil {
		in.broken = in.explain(err)
	}
	if in.broken != nil && len(in.sample) == 0 {
		return in.broken
	}
	return nil
}

// explain says what an error of reading or decompressing means.
func (in *Input) explain(err error) error {
	if in.compression == "" || errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("read graph %s: %w", in.name, err)
	}
	what := "is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		what = "is truncated"
	}
	return fmt.Errorf("read graph %s: the %s stream %s after %d bytes: %w", in.name, in.compression, what, in.stored.n.Load(), err)
}

// Name is the path, or what else the input is called in messages.
func (in *Input) Name() string { return in.name }

// Compression is "gzip", "zstd" or "".
func (in *Input) Compression() string { return in.compression }

// Size is the number of bytes as they are stored, 0 where it is not known.
func (in *Input) Size() int64 { return in.size }

// Peek is the beginning of the text, decompressed: up to 256 KiB. It belongs to
// the input.
func (in *Input) Peek() []byte { return in.sample[:min(len(in.sample), sampleSize)] }

// Close closes the file that Open opened. It may be called while a Read that
// was cancelled still waits for a slow stream.
func (in *Input) Close() error {
	if in.decoder != nil && !in.used {
		in.decoder.Close()
	}
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// fill reads until b is full. Unlike io.ReadFull it returns the error of the
// reader as it is, so that the end of a text differs from that of a truncated
// stream, for which decompressors return io.ErrUnexpectedEOF.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	if n == len(b) {
		err = nil
	}
	return n, err
}

// counter counts the bytes that were read through it.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}
