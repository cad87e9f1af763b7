//go:build !unix

package seriesbench

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }

// settle does nothing here.
func settle() {}
