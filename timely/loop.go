package timely

// Variable is a stream of a loop that is defined after it is used: what is
// [Variable.Set] to goes around, and comes out of [Variable.Stream] a round later.
type Variable[D any] struct {
	scope  *Scope
	in     *input[D]
	stream Stream[D]
	op     *Operator
	set    bool
}

// LoopVariable makes a variable of a loop. Its records are in rounds from 1 on. If
// rounds is positive, records of that round and later are dropped, so that the loop
// ends.
func LoopVariable[D any](loop *Scope, rounds uint64) *Variable[D] {
	if loop.depth < 2 {
		loop.builder.fail("a variable is made outside of all loops")
	}
	op := NewOperator(loop, "variable")
	once := Identity()
	once.Add[loop.depth-1] = 1
	in := &input[D]{flow: loop.builder.flow, node: op.id}
	r := addInput(op, in, once)
	out, stream := op.Output[D]()
	v := &Variable[D]{scope: loop, in: in, stream: stream, op: op}
	op.Build(func() {
		for t, data, ok := r.Next(); ok; t, data, ok = r.Next() {
			next, ok := once.ResultsIn(t)
			if !ok || rounds > 0 && next[loop.depth-1] >= rounds {
				continue
			}
			r.Keep()
			out.Pass(next, data)
		}
	})
	loop.builder.last = append(loop.builder.last, func() error {
		if !v.set {
			loop.builder.fail("a variable of loop %q was never set", loop.path)
		}
		return nil
	})
	return v
}

// Stream is the records of the variable.
func (v *Variable[D]) Stream() Stream[D] { return v.stream }

// Set says what the variable is. It is called once.
func (v *Variable[D]) Set(s Stream[D]) {
	s.require(v.op.shape().name)
	switch {
	case v.set:
		v.scope.builder.fail("a variable of loop %q is set twice", v.scope.path)
		return
	case s.scope != v.scope:
		v.scope.builder.fail("a variable of loop %q is set to a stream of scope %q", v.scope.path, s.scope.path)
	}
	v.set = true
	s.attach(v.in, v.op.shape().name, Pipeline[D]())
}
