package series

import (
	"runtime"
	"sync"

	"weir/series/names"
)

// task is something to do for a shard while a store is opened.
type task struct {
	shard   int
	payload []byte // belongs to the task
	at      uint64 // of a node
	length  int
	segment uint32 // of a frame of the log
}

// team does tasks on all cores, those of one shard in the order in which they were given.
type team struct {
	queues []chan task
	done   sync.WaitGroup
	mu     sync.Mutex
	err    error
}

func newTeam(do func(task) error) *team {
	t := &team{queues: make([]chan task, min(runtime.GOMAXPROCS(0), shardCount))}
	for i := range t.queues {
		t.queues[i] = make(chan task, 256)
		t.done.Go(func() {
			for task := range t.queues[i] {
				if t.failed() != nil {
					continue
				}
				if err := do(task); err != nil {
					t.mu.Lock()
					if t.err == nil {
						t.err = err
					}
					t.mu.Unlock()
				}
			}
		})
	}
	return t
}

func (t *team) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// give hands over a task, or returns the error of an earlier one.
func (t *team) give(task task) error {
	if err := t.failed(); err != nil {
		return err
	}
	t.queues[task.shard%len(t.queues)] <- task
	return nil
}

// wait waits until everything is done, and returns the first error.
func (t *team) wait() error {
	for _, q := range t.queues {
		close(q)
	}
	t.done.Wait()
	return t.err
}

func firstOf(shard int) names.ID { return names.ID(shard) }
