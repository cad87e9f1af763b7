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
			fail(fmt.Errorf("%w: it has built %d dataflows, the last of which is %q, but the program of worker %d has ended with %d%s",
				mesh.ErrMismatch, w.built, w.name, e.Worker, e.Built, e.last()))
		}
	}
}

func (e ended) last() string {
	if e.Built == 0 {
		return ""
	}
	return fmt.Sprintf(", the last of which is %q", e.Last)
}

// end tells the others that the program of w has ended.
func (c *census) end(w *Worker) {
	for _, s := range c.others {
		s.Send(ended{int32(w.Index()), int32(w.built), w.name})
	}
}
