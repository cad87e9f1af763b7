// Package format writes the answers of queries as text, and reads and writes the texts of times, spans of time and
// numbers that queries and answers have, byte for byte as clients of the original protocol expect them.
//
//	dst = format.AppendNumber(dst, 0.1)  // 0.10000000000000001
//	dst = format.AppendTime(dst, 0)      // 19700101T000000.000000000
//	t, err := format.ParseTime("20170101T000000.5")
//
// An Encoder writes batches of rows in RESP, CSV, or as lines of JSON.
package format
