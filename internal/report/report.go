// Package report is what the programs under bench write: a page of Markdown with tables and plots,
// which says on which machine, by which command and when its figures were measured.
package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/plot"
	"weir/internal/table"
)

// Report is a page.
type Report struct {
	Title    string
	Intro    string // Markdown, above what is said of the machine
	Machine  Machine
	More     [][2]string // further rows of the table of the machine
	Sections []*Section
	End      string // Markdown, below the sections
}

// Section is a part of a report.
type Section struct {
	Title  string
	Text   string
	Plots  []Plot
	Tables []Table
}

// Plot is a chart in a file beside the report.
type Plot struct {
	File  string // its name
	Alt   string // what it shows, for those who do not see it
	Chart *plot.Chart
}

// Table is a table with what is said below it.
type Table struct {
	Title string
	Rows  *table.Table
	Notes []string // a paragraph each
}

// Save writes the report, under the given name, and its plots to a folder, which it makes.
func (r *Report) Save(folder, name string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	var text bytes.Buffer
	if err := r.write(&text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, s := range r.Sections {
		for _, p := range s.Plots {
			if err := p.Chart.Save(filepath.Join(folder, p.File)); err != nil {
				return err
			}
		}
	}
	if err := os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (r *Report) write(w *bytes.Buffer) error {
	fmt.Fprintf(w, "# %s\n\n%s\n\n", r.Title, r.Intro)
	t := table.New(table.Left(""), table.Left("measured on"))
	for _, row := range append(r.Machine.rows(), r.More...) {
		t.Row(row[0], row[1])
	}
	if err := t.WriteMarkdown(w); err != nil {
		return err
	}
	for _, s := range r.Sections {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", s.Title, s.Text)
		for _, p := range s.Plots {
			fmt.Fprintf(w, "\n![%s](%s)\n", p.Alt, p.File)
		}
		for _, t := range s.Tables {
			fmt.Fprintf(w, "\n### %s\n\n", t.Title)
			if err := t.Rows.WriteMarkdown(w); err != nil {
				return err
			}
			for _, note := range t.Notes {
				fmt.Fprintf(w, "\n%s\n", note)
			}
		}
	}
	if r.End != "" {
		fmt.Fprintf(w, "\n%s\n", r.End)
	}
	return nil
}

// WriteText writes the section's tables for a terminal.
func (s *Section) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s\n%s\n", s.Title, strings.Repeat("=", len(s.Title))); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if _, err := fmt.Fprintf(w, "\n%s\n\n", t.Title); err != nil {
			return err
		}
		if err := t.Rows.WriteText(w); err != nil {
			return err
		}
		for _, note := range t.Notes {
			if _, err := fmt.Fprintf(w, "\n%s\n", wrap(note, 100)); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrap breaks a paragraph at blanks.
func wrap(s string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(s) {
		n := len([]rune(word))
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
