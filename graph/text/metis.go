package text

import "bytes"

// rowsOf reads rows of a METIS file: line i holds what vertex i is joined to.
// The part counts rows from 0; whoever knows how many came before moves the
// sources. Edges to vertices come out zero-based.
func (p *parser) rowsOf(b []byte, out *part) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		text := bytes.TrimSuffix(b[:end], []byte("\r"))
		b = b[end+1:]
		if len(text) > p.opt.MaxLine {
			out.fatal = tooLong(p.name, out.lines+1, text, p.opt.MaxLine)
			return
		}
		trimmed := bytes.TrimLeft(text, " \t")
		if len(trimmed) > 0 && trimmed[0] == '%' {
			out.lines++
			out.comments++
			continue
		}
		edges, weights, rounded := len(out.edges), len(out.weights), out.rounded
		if !p.row(trimmed, text, out) {
			// Nothing of a bad row counts, but it remains a row.
			out.edges, out.weights, out.rounded = out.edges[:edges], out.weights[:weights], rounded
			if p.opt.SkipBad == 0 {
				return
			}
		}
		out.lines++
		out.rows++
		if len(trimmed) > 0 {
			out.filled = out.rows
		} else {
			out.blank++
		}
	}
	out.entries = int64(len(out.edges))
}

// row reads one row; false is a bad one, which has been noted.
func (p *parser) row(row, text []byte, out *part) bool {
	source := uint64(out.rows) << 32
	skip := p.vertexWeights
	for i := 0; ; {
		for i < len(row) && blank(row[i]) {
			i++
		}
		if i == len(row) {
			if skip > 0 && len(row) > 0 {
				p.refuse(out, text, "%d weights of the vertex, want %d", p.vertexWeights-skip, p.vertexWeights)
				return false
			}
			return true
		}
		start := i
		var id uint64
		for i < len(row) && row[i]-'0' <= 9 && i-start < 19 {
			id = id*10 + uint64(row[i]-'0')
			i++
		}
		if i == start || i < len(row) && !blank(row[i]) {
			for i < len(row) && !blank(row[i]) {
				i++
			}
			var err error
			if id, err = parseID(row[start:i]); err != nil {
				p.refuse(out, text, "neighbour %s %v", shown(row[start:i]), err)
				return false
			}
		}
		if skip > 0 {
			skip--
			continue
		}
		if id-1 >= p.limit {
			p.refuse(out, text, "neighbour %d is not in 1 to %d, which are all vertices", id, p.limit)
			return false
		}
		if p.edgeWeights {
			for i < len(row) && blank(row[i]) {
				i++
			}
			start = i
			for i < len(row) && !blank(row[i]) {
				i++
			}
			if i == start {
				p.refuse(out, text, "no weight after neighbour %d", id)
				return false
			}
			w, err := parseWeight(row[start:i])
			if err != nil {
				p.refuse(out, text, "weight %s %v", shown(row[start:i]), err)
				return false
			}
			f, rounded := narrow(w)
			if rounded {
				out.rounded++
			}
			if p.weighted {
				out.weights = append(out.weights, f)
			}
		}
		out.edges = append(out.edges, source|(id-1))
	}
}
