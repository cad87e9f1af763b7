// Command weir computes answers on graphs, fast, on one machine.
//
// Each subcommand lives in a file of its own and turns flags into calls of the
// packages beside; nothing else is done here.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
