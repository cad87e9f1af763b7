package mesh

import "errors"

var (
	// ErrPeerLost is what a [PeerLostError] is.
	ErrPeerLost = errors.New("peer lost")
	// ErrMismatch says that workers opened different channels.
	ErrMismatch = errors.New("workers must open the same channels in the same order")
	// ErrClosed is the error of a mesh that was closed here.
	ErrClosed = errors.New("mesh is closed")
)
