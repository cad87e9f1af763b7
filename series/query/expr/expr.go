// Package expr evaluates formulas over columns of numbers: + - * / ^, comparisons (1 or 0), && and ||, ?:, functions
// (sin, max, avg, …), and the constants _pi and _e.
//
//	e, err := expr.Parse("sqrt(cpu) + 2*mem", []string{"cpu", "mem"})
//	e.Eval([]float64{4, 10}) // 22
//
// From loose to tight: ?:, ||, &&, comparisons, + and -, * and /, signs, ^ (from the right). A name may be any text, dots,
// colons and dashes included: the longest known one at a place is meant.
package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of a formula.
const (
	MaxLength = 4096 // bytes
	MaxDepth  = 200
)

// Expr is a formula. It may be evaluated by several goroutines at once.
type Expr struct {
	eval eval
	used []int
}

type eval func(v []float64) float64

// Eval computes the formula, where v holds a value for each of the names that Parse was given.
func (e *Expr) Eval(v []float64) float64 { return e.eval(v) }

// Used is which of the names the formula has, ascending.
func (e *Expr) Used() []int { return e.used }

// An UnknownError names what is neither a variable nor a function.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return "Unknown variable [" + e.Name + "]" }

// A SyntaxError says where a formula is wrong.
type SyntaxError struct {
	Offset int // in bytes
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at position %d of the expression", e.Reason, e.Offset)
}

// Parse reads a formula over names. An error is an *UnknownError or a *SyntaxError.
func Parse(text string, names []string) (*Expr, error) {
	p := parser{text: text, names: names}
	if len(text) > MaxLength {
		return nil, &SyntaxError{MaxLength, fmt.Sprintf("more than %d bytes", MaxLength)}
	}
	p.order = make([]int, len(names))
	for i := range names {
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return len(names[b]) - len(names[a]) })
	e, err := p.conditional()
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(text) {
		return nil, p.fail("expected an operator")
	}
	slices.Sort(p.used)
	return &Expr{e, slices.Compact(p.used)}, nil
}

type parser struct {
	text      string
	at, depth int
	names     []string
	order     []int // of names, the longest first
	used      []int
}

func (p *parser) fail(reason string) error {
	if p.at >= len(p.text) {
		reason += ", found the end,"
	}
	return &SyntaxError{p.at, reason}
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) have(token string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *parser) conditional() (eval, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail(fmt.Sprintf("deeper than %d levels", MaxDepth))
	}
	defer func() { p.depth-- }()
	cond, err := p.binary(0)
	if err != nil || !p.have("?") {
		return cond, err
	}
	yes, err := p.conditional()
	if err != nil {
		return nil, err
	}
	if !p.have(":") {
		return nil, p.fail("expected :")
	}
	no, err := p.conditional()
	if err != nil {
		return nil, err
	}
	return func(v []float64) float64 {
		if cond(v) != 0 {
			return yes(v)
		}
		return no(v)
	}, nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

type operator struct {
	token string
	make  func(a, b eval) eval
}

// levels are the operators that take their operands from the left, loose ones first.
var levels = [][]operator{
	{{"||", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) != 0 || b(v) != 0) } }}},
	{{"&&", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) != 0 && b(v) != 0) } }}},
	{
		{"<=", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) <= b(v)) } }},
		{">=", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) >= b(v)) } }},
		{"==", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) == b(v)) } }},
		{"!=", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) != b(v)) } }},
		{"<", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) < b(v)) } }},
		{">", func(a, b eval) eval { return func(v []float64) float64 { return truth(a(v) > b(v)) } }},
	},
	{
		{"+", func(a, b eval) eval { return func(v []float64) float64 { return a(v) + b(v) } }},
		{"-", func(a, b eval) eval { return func(v []float64) float64 { return a(v) - b(v) } }},
	},
	{
		{"*", func(a, b eval) eval { return func(v []float64) float64 { return a(v) * b(v) } }},
		{"/", func(a, b eval) eval { return func(v []float64) float64 { return a(v) / b(v) } }},
	},
}

func (p *parser) binary(level int) (eval, error) {
	if level == len(levels) {
		return p.signed()
	}
	left, err := p.binary(level + 1)
next:
	for err == nil {
		for _, op := range levels[level] {
			if p.have(op.token) {
				var right eval
				if right, err = p.binary(level + 1); err == nil {
					left = op.make(left, right)
				}
				continue next
			}
		}
		return left, nil
	}
	return nil, err
}

func (p *parser) signed() (eval, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail(fmt.Sprintf("deeper than %d levels", MaxDepth))
	}
	defer func() { p.depth-- }()
	switch {
	case p.have("+"):
		return p.signed()
	case p.have("-"):
		e, err := p.signed()
		if err != nil {
			return nil, err
		}
		return func(v []float64) float64 { return -e(v) }, nil
	}
	base, err := p.primary()
	if err != nil || !p.have("^") {
		return base, err
	}
	power, err := p.signed()
	if err != nil {
		return nil, err
	}
	return func(v []float64) float64 { return math.Pow(base(v), power(v)) }, nil
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

func (p *parser) primary() (eval, error) {
	if p.have("(") {
		e, err := p.conditional()
		if err == nil && !p.have(")") {
			err = p.fail("expected )")
		}
		return e, err
	}
	p.space()
	rest := p.text[p.at:]
	call := startsCall(rest)
	for _, i := range p.order {
		name := p.names[i]
		if call == name {
			continue // a variable may be called as a function is
		}
		if name != "" && strings.HasPrefix(rest, name) && (len(rest) == len(name) || !isWord(rest[len(name)]) || !isWord(name[len(name)-1])) {
			p.at += len(name)
			p.used = append(p.used, i)
			return func(v []float64) float64 { return v[i] }, nil
		}
	}
	if rest == "" {
		return nil, p.fail("expected a value")
	}
	if c := rest[0]; '0' <= c && c <= '9' || c == '.' {
		return p.number()
	}
	n := 0
	for n < len(rest) && (isWord(rest[n]) || n > 0 && rest[n] == '.') {
		n++
	}
	if n == 0 {
		return nil, p.fail("expected a value")
	}
	word := rest[:n]
	at := p.at
	p.at += n
	if p.have("(") {
		return p.call(word, at)
	}
	switch word {
	case "_pi":
		return func([]float64) float64 { return math.Pi }, nil
	case "_e":
		return func([]float64) float64 { return math.E }, nil
	}
	return nil, &UnknownError{word}
}

// startsCall is the name of the function that is called at the begin of a text, or "".
func startsCall(text string) string {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	_, one := unary[text[:n]]
	_, many := folds[text[:n]]
	if (one || many) && strings.HasPrefix(strings.TrimLeft(text[n:], " \t\r\n"), "(") {
		return text[:n]
	}
	return ""
}

func (p *parser) number() (eval, error) {
	n := 0
	rest := p.text[p.at:]
	for n < len(rest) && ('0' <= rest[n] && rest[n] <= '9' || rest[n] == '.' ||
		n > 0 && rest[n]|0x20 == 'e' && n+1 < len(rest) && strings.IndexByte("+-0123456789", rest[n+1]) >= 0 ||
		n > 0 && (rest[n] == '+' || rest[n] == '-') && rest[n-1]|0x20 == 'e') {
		n++
	}
	value, err := strconv.ParseFloat(rest[:n], 64)
	if err != nil {
		return nil, p.fail("expected a number")
	}
	p.at += n
	return func([]float64) float64 { return value }, nil
}

func (p *parser) call(word string, at int) (eval, error) {
	var args []eval
	for !p.have(")") {
		if len(args) > 0 && !p.have(",") {
			return nil, p.fail("expected , or )")
		}
		e, err := p.conditional()
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	if f, ok := unary[word]; ok {
		if len(args) != 1 {
			return nil, &SyntaxError{at, "expected one argument of " + word}
		}
		a := args[0]
		return func(v []float64) float64 { return f(a(v)) }, nil
	}
	f, ok := folds[word]
	switch {
	case !ok:
		return nil, &UnknownError{word}
	case len(args) == 0:
		return nil, &SyntaxError{at, "expected arguments of " + word}
	}
	return func(v []float64) float64 {
		acc := args[0](v)
		for _, a := range args[1:] {
			acc = f(acc, a(v))
		}
		if word == "avg" {
			acc /= float64(len(args))
		}
		return acc
	}, nil
}

func add(a, b float64) float64 { return a + b }

var folds = map[string]func(a, b float64) float64{"min": math.Min, "max": math.Max, "sum": add, "avg": add}

var unary = map[string]func(float64) float64{
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"log2": math.Log2, "log10": math.Log10, "log": math.Log, "ln": math.Log, "exp": math.Exp, "sqrt": math.Sqrt,
	"rint": math.RoundToEven, "abs": math.Abs,
	"sign": func(x float64) float64 { return truth(x > 0) - truth(x < 0) },
}
