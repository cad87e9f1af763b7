// Benchmarks beside other codecs, apart from weir's own module so that
// they are none of its dependencies.
module weir/flat/compare

go 1.27

require (
	github.com/fxamacker/cbor/v2 v2.10.0
	github.com/vmihailenco/msgpack/v5 v5.4.1
	weir v0.0.0
)

require (
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
)

replace weir => ../..
