// Package differential keeps answers up to date while the data under them change.
package differential
