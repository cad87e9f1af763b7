package seriesbench

import (
	"path/filepath"
	"sync/atomic"

	"weir/series/disk"
)

// counted is a file system that counts what is written to files.
type counted struct {
	disk.FS
	volumes, others atomic.Int64 // bytes
}

func (c *counted) OpenFile(name string, flag int) (disk.File, error) {
	f, err := c.FS.OpenFile(name, flag)
	if err != nil {
		return nil, err
	}
	count := &c.others
	if filepath.Base(filepath.Dir(name)) == "volumes" {
		count = &c.volumes
	}
	return &countedFile{f, count}, nil
}

type countedFile struct {
	disk.File
	count *atomic.Int64
}

func (f *countedFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	f.count.Add(int64(n))
	return n, err
}
