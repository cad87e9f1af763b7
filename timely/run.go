package timely

import (
	"context"

	"weir/mesh"
)

// Config says which workers run a program. The zero Config is one worker.
type Config struct {
	mesh.Config
	// Context ends the run with its error when it is done; nil is never.
	Context context.Context
}

// Threads is n workers in this process.
func Threads(n int) Config { return Config{Config: mesh.Config{Threads: n}} }

func (c Config) context() context.Context {
	if c.Context == nil {
		return context.Background()
	}
	return c.Context
}
