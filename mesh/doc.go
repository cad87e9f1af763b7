// Package mesh connects the workers of a computation: threads of one process, and
// processes of one machine or of many, and carries batches between them.
//
// [Start] returns when all processes are connected. Each worker of this process is
// a [Peer]: it opens channels by name, all workers the same ones in the same order,
// sends on them without ever waiting, and asks what has come:
//
//	m, err := mesh.Start(ctx, mesh.Config{Threads: 2})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	for _, p := range m.Workers() {
//		go func() {
//			to, from, err := p.Open[[]uint64]("numbers")
//			if err != nil {
//				m.Fail(err)
//				return
//			}
//			to[(p.Index()+1)%p.Peers()].Send([]uint64{1, 2, 3})
//			for p.Park(0); p.Err() == nil; p.Park(0) {
//				p.Ready(func(int) {})
//				for _, batch := range from.Take(nil) {
//					use(batch)
//				}
//			}
//		}()
//	}
//
// A message is handed over, with all that it points to: the sender does not touch
// it again. Within a worker it is a slot of a slice, between workers of a process
// one of a slice behind a mutex, and between processes bytes of package flat on a TCP
// connection, one for each two processes. Messages on a channel from one
// worker to another arrive once each, in the order in which they were sent.
//
// When a worker fails ([Mesh.Fail]), or a process dies, falls silent or sends
// bytes that do not make sense, the whole mesh fails: every worker of every process
// finds the reason in [Peer.Err], and a parked one is woken for it. A
// lost process is a [PeerLostError]. There is no recovery: what the computation
// had in flight is lost.
package mesh
