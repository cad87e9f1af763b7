package timely

import (
	"fmt"

	"weir/mesh"
)

// census finds workers that have built fewer dataflows than others. Where they build
// different ones the mesh says so, but one that a worker never builds would
// have the others wait for it without end. So each worker tells the others when its
// program has ended, after which it builds no more.
type census struct {
	others []sender[ended]
	heard  *mesh.Receiver[ended]
	list   []ended // of the workers whose programs have ended
}

// ended says that the program of a worker has.
type ended struct {
	Worker int32
	Built  int32  // dataflows
	Last   string // the name of the last
}

func newCensus(w *Worker) (*census, error) {
	senders, heard, err := open[ended](w, "programs that ended")
	if err != nil {
		return nil, err
	}
	c := &census{heard: heard}
	for i, s := range senders {
		if i != w.Index() {
			c.others = append(c.others, s)
		}
	}
	w.listen(heard.ID(), func() {
		c.list = heard.Take(c.list)
		c.check(w)
	})
	return c, nil
}

// check ends the run if a worker that builds no more has built fewer than w.
func (c *census) check(w *Worker) {
	for _, e := range c.list {
		if int(e.Built) < w.built {
			c.differ(w, e)
		}
	}
}

// complete says that the programs of all workers have ended. It ends the run if they have built
// different numbers of dataflows.
func (c *census) complete(w *Worker) bool {
	if len(c.list) < len(c.others) {
		return false
	}
	for _, e := range c.list {
		if int(e.Built) != w.built {
			c.differ(w, e)
		}
	}
	return true
}

func (c *census) differ(w *Worker, e ended) {
	mine := ended{int32(w.Index()), int32(w.built), w.name}
	fail(fmt.Errorf("%w: %v, but %v and its program has ended", mesh.ErrMismatch, mine, e))
}

func (e ended) String() string {
	switch e.Built {
	case 0:
		return fmt.Sprintf("worker %d has built no dataflow", e.Worker)
	case 1:
		return fmt.Sprintf("worker %d has built 1 dataflow, %q", e.Worker, e.Last)
	}
	return fmt.Sprintf("worker %d has built %d dataflows, the last of which is %q", e.Worker, e.Built, e.Last)
}

// end tells the others that the program of w has ended.
func (c *census) end(w *Worker) {
	for _, s := range c.others {
		s.Send(ended{int32(w.Index()), int32(w.built), w.name})
	}
}
