package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"weir/mesh"
)

// ErrAlone is why a run ends whose first process is gone.
var ErrAlone = errors.New("the process that started this one is gone")

// Join makes this process, which [Start] started, one of the run. It reads from in, its standard
// input, until that ends: then the context that it returns is done, because the process that
// started this one is gone or wants no more.
func Join(ctx context.Context, in io.Reader, out io.Writer) (context.Context, mesh.Config, error) {
	ctx, cfg, err := join(ctx, in, out)
	if err != nil {
		return nil, mesh.Config{}, fmt.Errorf("join a run: %w", err)
	}
	return ctx, cfg, nil
}

func join(ctx context.Context, in io.Reader, out io.Writer) (context.Context, mesh.Config, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", loopback)
	if err != nil {
		return nil, mesh.Config{}, err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		l.Close()
		return nil, mesh.Config{}, err
	}
	var t ticket
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		l.Close()
		if errors.Is(err, io.EOF) {
			err = ErrAlone
		}
		return nil, mesh.Config{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in) // however it ends
		cancel(ErrAlone)
	}()
	return ctx, mesh.Config{
		Processes: len(t.Addresses), Process: t.Process, Addresses: t.Addresses, Secret: t.Secret, Listener: l,
	}, nil
}
