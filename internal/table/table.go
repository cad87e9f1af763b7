// Package table prints the same rows as an aligned table for a terminal and as a
// table for Markdown.
//
// A column of numbers is aligned to the right and its thousands are separated;
// the unit stands in the heading, not beside each value:
//
//	t := table.New(table.Left("graph"), table.Right("edges"), table.Right("time, s").Decimals(2))
//	t.Row("rmat 22", 67108864, 3.7)
//	t.WriteText(os.Stdout)
package table

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Column is a heading and how the cells below it look.
type Column struct {
	title    string
	right    bool
	decimals int // of floating-point numbers; below 0: as many as make three digits
	plain    bool
}

// Left is a column of text.
func Left(title string) Column { return Column{title: title, decimals: -1} }

// Right is a column of numbers.
func Right(title string) Column { return Column{title: title, right: true, decimals: -1} }

// Decimals fixes the number of digits behind the point of floating-point numbers.
func (c Column) Decimals(n int) Column { c.decimals = n; return c }

// Plain leaves thousands unseparated, as is right for identifiers.
func (c Column) Plain() Column { c.plain = true; return c }

// Table is a heading and rows.
type Table struct {
	columns []Column
	rows    []table.Row
}

// New is an empty table.
func New(columns ...Column) *Table { return &Table{columns: columns} }

// Row adds a row. A cell may be a string, any integer or floating-point number,
// a fmt.Stringer, or nil for an empty cell. Missing cells are empty.
func (t *Table) Row(cells ...any) {
	row := make(table.Row, len(t.columns))
	for i := range row {
		row[i] = ""
		if i < len(cells) {
			row[i] = t.columns[i].format(cells[i])
		}
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// WriteText writes the table aligned with spaces, under a thin line.
func (t *Table) WriteText(w io.Writer) error {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format = table.FormatOptions{}
	for line := range strings.Lines(t.writer(style).Render() + "\n") {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown writes the table in the form that GitHub and others read.
func (t *Table) WriteMarkdown(w io.Writer) error {
	style := table.StyleDefault
	style.Format = table.FormatOptions{}
	_, err := io.WriteString(w, t.writer(style).RenderMarkdown()+"\n")
	return err
}

func (t *Table) writer(style table.Style) table.Writer {
	w := table.NewWriter()
	w.SetStyle(style)
	header := make(table.Row, len(t.columns))
	configs := make([]table.ColumnConfig, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.title
		align := text.AlignLeft
		if c.right {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	w.AppendHeader(header)
	w.SetColumnConfigs(configs)
	w.AppendRows(t.rows)
	return w
}

func (c Column) format(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case string:
		return Printable(v)
	case fmt.Stringer:
		return Printable(v.String())
	}
	switch v := reflect.ValueOf(cell); {
	case v.CanInt():
		return c.group(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return c.group(strconv.FormatUint(v.Uint(), 10))
	case v.CanFloat():
		if c.decimals < 0 {
			return c.group(ThreeDigits(v.Float()))
		}
		return c.group(strconv.FormatFloat(v.Float(), 'f', c.decimals, 64))
	}
	return fmt.Sprint(cell)
}

// Printable replaces what would move the cursor of a terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

func (c Column) group(number string) string {
	if c.plain {
		return number
	}
	return Thousands(number)
}

// Thousands separates the thousands of a decimal number by commas. Exponents
// and words such as NaN stay as they are.
func Thousands(number string) string {
	whole, rest := number, ""
	if i := strings.IndexAny(number, ".e"); i >= 0 {
		whole, rest = number[:i], number[i:]
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if whole == "" || whole[0] < '0' || whole[0] > '9' {
		return number
	}
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return sign + b.String() + rest
}

// ThreeDigits formats x with three significant digits, or as a whole number where
// it has more: 0.0123, 1.23, 12.3, 12345. Very small numbers have an exponent.
func ThreeDigits(x float64) string {
	switch size := math.Abs(x); {
	case x == 0 || math.IsNaN(x) || math.IsInf(x, 0):
		return strconv.FormatFloat(x, 'f', -1, 64)
	case size < 1e-4:
		return strconv.FormatFloat(x, 'e', 2, 64)
	case size >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	default:
		// Rounding may carry into another digit, so ask what it rounds to.
		_, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 2, 64), "e")
		power, _ := strconv.Atoi(exponent) // it is a number by construction
		return strconv.FormatFloat(x, 'f', 2-power, 64)
	}
}
