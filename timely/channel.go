package timely

import "weir/mesh"

// sender is the end of a channel that leads to one worker.
type sender[T any] interface{ Send(T) }

// open opens the next channel of the worker.
func open[T any](w *Worker, name string) ([]sender[T], *mesh.Receiver[T], error) {
	ends, receiver, err := w.peer.Open[T](name)
	if err != nil {
		return nil, nil, err
	}
	senders := make([]sender[T], len(ends))
	for i, end := range ends {
		senders[i] = end
		if w.hold != nil && i != w.Index() {
			senders[i] = held[T]{w.hold, receiver.ID(), i, end}
		}
	}
	return senders, receiver, nil
}

// holder is who decides when messages leave a worker: a simulation, which has them take
// any time that they might take on a network. Messages of one channel to one worker must be
// delivered in the order in which they were sent.
type holder func(channel, to int, message any, deliver func(any))

// held is a sender whose messages are held.
type held[T any] struct {
	hold    holder
	channel int
	to      int
	end     *mesh.Sender[T]
}

func (h held[T]) Send(m T) {
	h.hold(h.channel, h.to, m, func(m any) { h.end.Send(m.(T)) })
}
