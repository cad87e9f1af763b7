package mesh

import (
	"errors"
	"fmt"
)

var (
	// ErrPeerLost is what every [PeerLostError] is.
	ErrPeerLost = errors.New("peer lost")
	// ErrMismatch says that workers opened different channels.
	ErrMismatch = errors.New("workers must open the same channels in the same order")
	// ErrRefused says that a process was not let into the mesh.
	ErrRefused = errors.New("refused")
	// ErrClosed is the error of a mesh that was closed here.
	ErrClosed = errors.New("mesh is closed")
)

// PeerLostError says that a process died, fell silent or sent what makes no sense.
type PeerLostError struct {
	Process int
	Address string // as in the configuration
	Cause   error
}

func (e *PeerLostError) Error() string {
	return fmt.Sprintf("lost process %d (%s): %v", e.Process, e.Address, e.Cause)
}

// Is makes every PeerLostError an [ErrPeerLost].
func (e *PeerLostError) Is(target error) bool { return target == ErrPeerLost }

// Unwrap is the cause.
func (e *PeerLostError) Unwrap() error { return e.Cause }

// RemoteError is what made another process fail.
type RemoteError struct {
	Process int
	Message string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("process %d: %s", e.Process, e.Message) }
