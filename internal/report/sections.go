package report

import "io"

// WriteSections makes sections, one after the other, and writes each as text as soon as it is made.
func WriteSections(w io.Writer, makers []func() (*Section, error)) ([]*Section, error) {
	var sections []*Section
	for _, maker := range makers {
		s, err := maker()
		if err == nil {
			err = s.WriteText(w)
		}
		if err != nil {
			return nil, err
		}
		sections = append(sections, s)
	}
	return sections, nil
}
