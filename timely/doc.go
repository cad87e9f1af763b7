// Package timely is a dataflow runtime.
package timely
