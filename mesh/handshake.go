package mesh

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"unicode"
)

// The handshake, between a dialer and an acceptor:
//
//	dialer                      acceptor
//	hello, with a nonce    ->
//	                       <-   hello, with a nonce
//	proof, and its         ->
//	fingerprint, if the
//	other's is not the same
//	                       <-   proof, or a refusal that says why
//	accepted, or a refusal ->
//	                       <-   welcome, or a refusal: there is one like you already
//
// A proof is an HMAC-SHA256 under the secret of the prover's role, both hellos, and
// what identifies the TLS connection, if there is one. So it is good
// for one connection and one direction. The dialer proves first: whoever
// connects without the secret learns nothing that the secret can be guessed from. Nor does a stranger
// who calls learn what runs here: hellos have a hash of the fingerprint, and its text is only told to whom
// has proved to know the secret, in a refusal that says what differs.

// protocol is the version of handshake and frames.
const protocol = 2

const (
	helloSize  = 104
	maxRefusal = 4 << 10
	// handshakeSize is what either side sends in a handshake that ends well.
	handshakeSize = helloSize + 1 + sha256.Size + 1
)

var helloMagic = [8]byte([]byte("weirmesh"))

// hello is what a process says about itself, as it is sent. All fields have a
// fixed size.
type hello struct {
	Magic       [8]byte
	Version     uint32
	Processes   uint32
	Threads     uint32
	Process     uint32 // who speaks
	Peer        uint32 // and to whom, it believes
	Timeout     uint32 // milliseconds of silence after which it gives up
	Outstanding uint64
	Fingerprint [32]byte
	Nonce       [32]byte
}

// newHello is what this process says to another one. The acceptor does not know
// whom it talks to before it has read the dialer's.
func newHello(cfg Config, peer int) hello {
	h := hello{
		Magic:       helloMagic,
		Version:     protocol,
		Processes:   uint32(cfg.Processes),
		Threads:     uint32(cfg.Threads),
		Process:     uint32(cfg.Process),
		Peer:        uint32(peer),
		Timeout:     uint32(min(cfg.Timeout.Milliseconds(), math.MaxUint32)),
		Outstanding: uint64(cfg.Outstanding),
		Fingerprint: sha256.Sum256([]byte(cfg.Fingerprint)),
	}
	rand.Read(h.Nonce[:])
	return h
}

func (h hello) encode() []byte {
	b, err := binary.Append(nil, binary.LittleEndian, h)
	if err != nil || len(b) != helloSize {
		panic(fmt.Sprintf("mesh: hello takes %d bytes: %v", len(b), err))
	}
	return b
}

// readHello reads what the other side says about itself.
func readHello(r io.Reader) (h hello, raw []byte, err error) {
	raw = make([]byte, helloSize)
	if _, err := io.ReadFull(r, raw[:len(helloMagic)]); err != nil {
		return h, nil, fmt.Errorf("read its hello: %w", err)
	}
	if !bytes.Equal(raw[:len(helloMagic)], helloMagic[:]) {
		return h, nil, fmt.Errorf("it is no weir process: it begins with %q", raw[:len(helloMagic)])
	}
	if _, err := io.ReadFull(r, raw[len(helloMagic):]); err != nil {
		return h, nil, fmt.Errorf("read its hello: %w", err)
	}
	if _, err := binary.Decode(raw, binary.LittleEndian, &h); err != nil {
		return h, nil, fmt.Errorf("decode its hello: %w", err)
	}
	return h, raw, nil
}

// A roleOf is who proves that it knows the secret.
type roleOf string

const (
	dialer   roleOf = "weir mesh dialer"
	acceptor roleOf = "weir mesh acceptor"
)

// prove computes a proof.
func prove(secret []byte, role roleOf, dialed, accepted, binding []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	for _, part := range [][]byte{[]byte(role), dialed, accepted, binding} {
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// binding identifies a TLS connection, so that a proof cannot be passed on to
// another one.
func binding(conn net.Conn) ([]byte, error) {
	c, ok := conn.(*tls.Conn)
	if !ok {
		return nil, nil
	}
	state := c.ConnectionState()
	return state.ExportKeyingMaterial("EXPORTER-weir-mesh", nil, 32)
}

// refusal is a reason not to connect that will not go away by trying again.
type refusal struct {
	by  string // who refused
	why string
	// certain says that the other process is one of the cluster: its proof was good.
	certain bool
}

func (r *refusal) Error() string        { return r.by + " refused the connection: " + r.why }
func (r *refusal) Is(target error) bool { return target == ErrRefused }

const (
	codeAccepted = iota + 1
	codeRefused
)

func sendProof(w io.Writer, proof []byte) error {
	_, err := w.Write(append([]byte{codeAccepted}, proof...))
	return err
}

// sendRefusal lets the other side know why. It is gone soon, whether or not it hears.
func sendRefusal(w io.Writer, why string) {
	why = why[:min(len(why), maxRefusal)]
	w.Write(append([]byte{codeRefused, byte(len(why)), byte(len(why) >> 8)}, why...))
}

// readProof reads a proof of n bytes, or the refusal that came instead.
func readProof(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, max(n, maxRefusal))
	if _, err := io.ReadFull(r, b[:1]); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	switch b[0] {
	case codeAccepted:
		if _, err := io.ReadFull(r, b[:n]); err != nil {
			return nil, fmt.Errorf("read its proof: %w", err)
		}
		return b[:n], nil
	case codeRefused:
		if _, err := io.ReadFull(r, b[:2]); err != nil {
			return nil, fmt.Errorf("read its refusal: %w", err)
		}
		why := b[:min(int(binary.LittleEndian.Uint16(b)), maxRefusal)]
		if _, err := io.ReadFull(r, why); err != nil {
			return nil, fmt.Errorf("read its refusal: %w", err)
		}
		return nil, &refusal{by: "it", why: printable(string(why))}
	}
	return nil, fmt.Errorf("its answer begins with byte %d", b[0])
}

// printable keeps what another program says from playing tricks in a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// sendFingerprint tells an acceptor that has another one what the fingerprint is.
func sendFingerprint(w io.Writer, text string) error {
	_, err := w.Write(append(binary.LittleEndian.AppendUint16(nil, uint16(len(text))), text...))
	return err
}

// readFingerprint reads the dialer's, whose hash its hello has.
func readFingerprint(r io.Reader, dialed hello) (string, error) {
	b := make([]byte, 2)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", fmt.Errorf("read its fingerprint: %w", err)
	}
	b = make([]byte, binary.LittleEndian.Uint16(b))
	if len(b) > maxFingerprint {
		return "", fmt.Errorf("its fingerprint has %d bytes, expected at most %d", len(b), maxFingerprint)
	}
	if _, err := io.ReadFull(r, b); err != nil {
		return "", fmt.Errorf("read its fingerprint: %w", err)
	}
	if sha256.Sum256(b) != dialed.Fingerprint {
		return "", errors.New("its fingerprint is not the one of its hello")
	}
	return printable(string(b)), nil
}

// differing is the fields of two fingerprints, each without those that the other has as well.
func differing(x, y string) (string, string) {
	xs, ys := strings.Split(x, ", "), strings.Split(y, ", ")
	without := func(fields, others []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return slices.Contains(others, f) }), ", ")
	}
	return without(xs, ys), without(ys, xs)
}

// disagreement says why the processes of two hellos do not belong together, and
// nothing if they do. The words are for either side.
func disagreement(dialed, accepted hello) string {
	d, a := fmt.Sprintf("process %d", dialed.Process), fmt.Sprintf("process %d", accepted.Process)
	differ := func(what string, x, y any) string { return fmt.Sprintf("%s has %v %s, %s has %v", d, x, what, a, y) }
	switch {
	case dialed.Version != accepted.Version:
		return fmt.Sprintf("%s speaks version %d of the protocol, %s speaks version %d", d, dialed.Version, a, accepted.Version)
	case dialed.Processes != accepted.Processes:
		return differ("processes", dialed.Processes, accepted.Processes)
	case dialed.Threads != accepted.Threads:
		return differ("threads", dialed.Threads, accepted.Threads)
	case dialed.Peer != accepted.Process:
		return fmt.Sprintf("%s expected process %d at the address of %s", d, dialed.Peer, a)
	case dialed.Process >= dialed.Processes || dialed.Process <= accepted.Process:
		return fmt.Sprintf("%s has no business with %s", d, a)
	case dialed.Fingerprint != accepted.Fingerprint:
		return fmt.Sprintf("%s and %s run different programs or configurations", d, a)
	}
	return ""
}

// explained adds to a disagreement over fingerprints what differs. The dialer has told its own.
func explained(why string, dialed, accepted hello, theirs, mine string) string {
	if why == "" || dialed.Fingerprint == accepted.Fingerprint {
		return why
	}
	d, a := differing(theirs, mine)
	return fmt.Sprintf("%s: process %d has %q, process %d has %q", why, dialed.Process, d, accepted.Process, a)
}

// dialHandshake greets the acceptor that process peer is expected to be.
func dialHandshake(conn net.Conn, cfg Config, peer int) (hello, error) {
	mine := newHello(cfg, peer)
	dialed := mine.encode()
	if _, err := conn.Write(dialed); err != nil {
		return hello{}, fmt.Errorf("send hello: %w", err)
	}
	theirs, accepted, err := readHello(conn)
	if err != nil {
		return theirs, err
	}
	if mine.Version != theirs.Version {
		return theirs, &refusal{by: "this process", why: disagreement(mine, theirs)}
	}
	bound, err := binding(conn)
	if err != nil {
		return theirs, fmt.Errorf("identify the connection: %w", err)
	}
	if err := sendProof(conn, prove(cfg.Secret, dialer, dialed, accepted, bound)); err != nil {
		return theirs, fmt.Errorf("send proof: %w", err)
	}
	if mine.Fingerprint != theirs.Fingerprint {
		if err := sendFingerprint(conn, cfg.Fingerprint); err != nil {
			return theirs, fmt.Errorf("send fingerprint: %w", err)
		}
	}
	proof, err := readProof(conn, sha256.Size)
	if err != nil {
		return theirs, err
	}
	if !hmac.Equal(proof, prove(cfg.Secret, acceptor, dialed, accepted, bound)) {
		sendRefusal(conn, "wrong secret")
		return theirs, &refusal{by: "this process", why: "the other has another secret"}
	}
	if why := disagreement(mine, theirs); why != "" {
		sendRefusal(conn, why)
		return theirs, &refusal{by: "this process", why: why, certain: true}
	}
	if err := sendProof(conn, nil); err != nil {
		return theirs, fmt.Errorf("accept: %w", err)
	}
	_, err = readProof(conn, 0)
	return theirs, err
}

// acceptHandshake answers a dialer. At the end it calls claim with the number of the
// process, which returns why that cannot be let in all the same.
func acceptHandshake(conn net.Conn, cfg Config, claim func(process int) string) (hello, error) {
	theirs, dialed, err := readHello(conn)
	if err != nil {
		return theirs, err
	}
	mine := newHello(cfg, int(theirs.Process))
	accepted := mine.encode()
	if _, err := conn.Write(accepted); err != nil {
		return theirs, fmt.Errorf("send hello: %w", err)
	}
	if mine.Version != theirs.Version {
		return theirs, &refusal{by: "this process", why: disagreement(theirs, mine)}
	}
	bound, err := binding(conn)
	if err != nil {
		return theirs, fmt.Errorf("identify the connection: %w", err)
	}
	proof, err := readProof(conn, sha256.Size)
	if err != nil {
		return theirs, err
	}
	var fingerprint string
	if mine.Fingerprint != theirs.Fingerprint {
		// Even if the proof is wrong: bytes that were not read would take the refusal with them.
		if fingerprint, err = readFingerprint(conn, theirs); err != nil {
			return theirs, err
		}
	}
	if !hmac.Equal(proof, prove(cfg.Secret, dialer, dialed, accepted, bound)) {
		sendRefusal(conn, "wrong secret")
		return theirs, &refusal{by: "this process", why: "the other has another secret"}
	}
	if why := explained(disagreement(theirs, mine), theirs, mine, fingerprint, cfg.Fingerprint); why != "" {
		sendRefusal(conn, why)
		return theirs, &refusal{by: "this process", why: why, certain: len(cfg.Secret) > 0 || cfg.proven()}
	}
	if err := sendProof(conn, prove(cfg.Secret, acceptor, dialed, accepted, bound)); err != nil {
		return theirs, fmt.Errorf("send proof: %w", err)
	}
	if _, err := readProof(conn, 0); err != nil {
		return theirs, err
	}
	if why := claim(int(theirs.Process)); why != "" {
		sendRefusal(conn, why)
		return theirs, &refusal{by: "this process", why: why}
	}
	if err := sendProof(conn, nil); err != nil {
		return theirs, fmt.Errorf("%w: %w", errClaimed, err)
	}
	return theirs, nil
}

// errClaimed marks an error after a claim, which is to be given up.
var errClaimed = errors.New("send welcome")
