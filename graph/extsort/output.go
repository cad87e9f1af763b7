package extsort

import "weir/graph/order"

// An output hands sorted edges on, and counts those that equal the one before or
// leaves them out. To find the smallest weight of equal edges it holds the last
// edge of each batch back.
type output struct {
	emit                func(keys []uint64, weights []float32) error
	dedup, weighted     bool
	duplicates, dropped int64

	any    bool // key and weight are those of the last edge taken
	key    uint64
	weight float32
}

func (o *output) take(keys []uint64, weights []float32) error {
	if len(keys) == 0 {
		return nil
	}
	if !o.dedup {
		if o.any && o.key == keys[0] {
			o.duplicates++
		}
		repeats := int64(0)
		for i, k := range keys[1:] {
			if k == keys[i] {
				repeats++
			}
		}
		o.duplicates += repeats
		o.any, o.key = true, keys[len(keys)-1]
		return o.emit(keys, weights)
	}
	from := 0
	for o.any && from < len(keys) && keys[from] == o.key {
		if weights != nil {
			o.weight = order.Lighter(o.weight, weights[from])
		}
		from++
	}
	o.duplicates += int64(from)
	o.dropped += int64(from)
	if from == len(keys) {
		return nil
	}
	if err := o.end(); err != nil {
		return err
	}
	to := from + 1
	for i := from + 1; i < len(keys); i++ {
		if keys[i] != keys[to-1] {
			keys[to] = keys[i]
			if weights != nil {
				weights[to] = weights[i]
			}
			to++
		} else if weights != nil {
			weights[to-1] = order.Lighter(weights[to-1], weights[i])
		}
	}
	o.duplicates += int64(len(keys) - to)
	o.dropped += int64(len(keys) - to)
	to--
	o.any, o.key = true, keys[to]
	if weights != nil {
		o.weight = weights[to]
		weights = weights[from:to]
	}
	if from == to {
		return nil
	}
	return o.emit(keys[from:to], weights)
}

// end hands out the edge held back.
func (o *output) end() error {
	if !o.any || !o.dedup {
		return nil
	}
	o.any = false
	if !o.weighted {
		return o.emit([]uint64{o.key}, nil)
	}
	return o.emit([]uint64{o.key}, []float32{o.weight})
}
