package names

// Permute is what the vertices are called after vertex v has become vertex
// number[v]. Number must be a permutation of as many vertices as the table names.
func (t *Table) Permute(number []uint32) *Table {
	if t.Kind() != Text {
		ids := make([]uint64, len(number))
		for v, to := range number {
			if t == nil {
				ids[to] = uint64(v)
			} else {
				ids[to] = t.integer(uint32(v))
			}
		}
		return List(ids)
	}
	old := make([]uint32, len(number))
	for v, to := range number {
		old[to] = uint32(v)
	}
	p := &Table{kind: Text, n: t.n, large: make([]uint64, t.n+1), arena: make([]byte, 0, len(t.arena))}
	for i, v := range old {
		p.arena = append(p.arena, t.text(v)...)
		p.large[i+1] = uint64(len(p.arena))
	}
	return p
}
