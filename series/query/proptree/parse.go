// Package proptree reads JSON as a tree in which every scalar is text: 2, "2" and 2 in quotes are the same, null is
// "null". Keys may come twice, and the first one counts; elements of lists are children without a key. That is how
// clients of the original protocol are used to be read.
//
//	root, err := proptree.Parse([]byte(`{"select": "cpu", "limit": 2}`))
//	fmt.Println(root.Text("select"), root.Text("limit"))
package proptree

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a document.
const (
	MaxBytes = 4 << 20
	MaxDepth = 64
	MaxNodes = 1 << 18
)

// Node is a scalar, or an object or a list with children.
type Node struct {
	Key      string // "" in a list
	Value    string // of a scalar
	Children []Node
}

// Child is the first child with a key, or nil. It may be asked of nil.
func (n *Node) Child(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Children {
		if n.Children[i].Key == key {
			return &n.Children[i]
		}
	}
	return nil
}

// Empty reports whether n has no text: it is an object, a list, null or "".
func (n *Node) Empty() bool { return n.Value == "" || n.Value == "null" }

// Text is the value of the first child with a key, or "".
func (n *Node) Text(key string) string {
	if c := n.Child(key); c != nil {
		return c.Value
	}
	return ""
}

// A SyntaxError says in which line of a document what was expected.
type SyntaxError struct {
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("JSON parsing error at line %d, %s", e.Line, e.Reason)
}

// Parse reads a document. It keeps nothing of text. An error is a *SyntaxError.
func Parse(text []byte) (*Node, error) {
	p := parser{text: text, line: 1}
	if len(text) > MaxBytes {
		return nil, p.fail(fmt.Sprintf("a query has at most %d bytes, this one has %d", MaxBytes, len(text)))
	}
	root := new(Node)
	if err := p.value(root, 0); err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(text) {
		return nil, p.fail("garbage after data")
	}
	return root, nil
}

type parser struct {
	text     []byte
	at, line int
	nodes    int
}

func (p *parser) fail(reason string) error { return &SyntaxError{p.line, reason} }

// space skips blanks.
func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		default:
			return
		}
		p.at++
	}
}

// have takes a byte, behind blanks, if it is there.
func (p *parser) have(b byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == b {
		p.at++
		return true
	}
	return false
}

func (p *parser) value(n *Node, depth int) error {
	p.nodes++
	switch {
	case depth > MaxDepth:
		return p.fail(fmt.Sprintf("deeper than %d levels", MaxDepth))
	case p.nodes > MaxNodes:
		return p.fail(fmt.Sprintf("more than %d values", MaxNodes))
	case p.have('{'):
		return p.object(n, depth)
	case p.have('['):
		return p.list(n, depth)
	case p.have('"'):
		s, err := p.quoted()
		n.Value = s
		return err
	case p.at == len(p.text):
		return p.fail("expected value")
	}
	switch c := p.text[p.at]; {
	case c == 't':
		return p.word(n, "true")
	case c == 'f':
		return p.word(n, "false")
	case c == 'n':
		return p.word(n, "null")
	case c == '-' || '0' <= c && c <= '9':
		return p.number(n)
	}
	return p.fail("expected value")
}

func (p *parser) word(n *Node, word string) error {
	if len(p.text)-p.at < len(word) || string(p.text[p.at:p.at+len(word)]) != word {
		return p.fail("expected '" + word + "'")
	}
	p.at += len(word)
	n.Value = word
	return nil
}

func (p *parser) object(n *Node, depth int) error {
	if p.have('}') {
		return nil
	}
	for {
		if !p.have('"') {
			return p.fail("expected key string")
		}
		key, err := p.quoted()
		if err != nil {
			return err
		}
		if !p.have(':') {
			return p.fail("expected ':'")
		}
		n.Children = append(n.Children, Node{Key: key})
		if err := p.value(&n.Children[len(n.Children)-1], depth+1); err != nil {
			return err
		}
		if !p.have(',') {
			break
		}
	}
	if !p.have('}') {
		return p.fail("expected '}' or ','")
	}
	return nil
}

func (p *parser) list(n *Node, depth int) error {
	if p.have(']') {
		return nil
	}
	for {
		n.Children = append(n.Children, Node{})
		if err := p.value(&n.Children[len(n.Children)-1], depth+1); err != nil {
			return err
		}
		if !p.have(',') {
			break
		}
	}
	if !p.have(']') {
		return p.fail("expected ']' or ','")
	}
	return nil
}

// digits takes digits and returns how many there were.
func (p *parser) digits() int {
	from := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - from
}

func (p *parser) next(of string) bool {
	if p.at < len(p.text) {
		for i := range len(of) {
			if p.text[p.at] == of[i] {
				p.at++
				return true
			}
		}
	}
	return false
}

func (p *parser) number(n *Node) error {
	from := p.at
	p.next("-")
	if !p.next("0") && p.digits() == 0 {
		return p.fail("expected digits after -")
	}
	if p.next(".") && p.digits() == 0 {
		return p.fail("need at least one digit after '.'")
	}
	if p.next("eE") {
		p.next("+-")
		if p.digits() == 0 {
			return p.fail("need at least one digit in exponent")
		}
	}
	n.Value = string(p.text[from:p.at])
	return nil
}

// quoted reads a string whose first quote was taken.
func (p *parser) quoted() (string, error) {
	var s []byte
	for from := p.at; ; {
		if p.at == len(p.text) {
			return "", p.fail("unterminated string")
		}
		switch p.text[p.at] {
		case '"':
			s = append(s, p.text[from:p.at]...)
			p.at++
			return string(s), nil
		case '\\':
			s = append(s, p.text[from:p.at]...)
			p.at++
			var err error
			if s, err = p.escape(s); err != nil {
				return "", err
			}
			from = p.at
		case '\n':
			p.line++
			p.at++
		default:
			p.at++
		}
	}
}

func (p *parser) escape(s []byte) ([]byte, error) {
	if p.at == len(p.text) {
		return nil, p.fail("invalid escape sequence")
	}
	c := p.text[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return append(s, c), nil
	case 'b':
		return append(s, '\b'), nil
	case 'f':
		return append(s, '\f'), nil
	case 'n':
		return append(s, '\n'), nil
	case 'r':
		return append(s, '\r'), nil
	case 't':
		return append(s, '\t'), nil
	case 'u':
	default:
		return nil, p.fail("invalid escape sequence")
	}
	r, ok := p.hex()
	switch {
	case !ok:
		return nil, p.fail("invalid escape sequence")
	case r >= 0xdc00 && r < 0xe000:
		return nil, p.fail("invalid codepoint, stray low surrogate")
	case r >= 0xd800 && r < 0xdc00:
		if !p.next("\\") || !p.next("u") {
			return nil, p.fail("invalid codepoint, stray high surrogate")
		}
		low, ok := p.hex()
		if !ok || low < 0xdc00 || low >= 0xe000 {
			return nil, p.fail("expected low surrogate after high surrogate")
		}
		r = utf16.DecodeRune(r, low)
	}
	return utf8.AppendRune(s, r), nil
}

func (p *parser) hex() (rune, bool) {
	var r rune
	for range 4 {
		if p.at == len(p.text) {
			return 0, false
		}
		switch c := p.text[p.at]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
		p.at++
	}
	return r, true
}
