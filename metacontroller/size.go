package metacontroller

// Size returns how many bytes a child takes in an answer, but for its hash. An
// error means that it has no form in JSON.
func Size(object Object) (int, error) {
	wire, err := appendObject(make([]byte, 0, 2048), object)
	return len(wire), err
}

// SizeInRequest returns how many bytes a child takes in a request: Metacontroller
// writes it with Go's encoder, which writes each "<", ">" and "&" as six.
func SizeInRequest(object Object) (int, error) {
	wire, err := appendObject(make([]byte, 0, 2048), object)
	size := len(wire)
	for _, c := range wire {
		if c == '<' || c == '>' || c == '&' {
			size += len(`\u003c`) - 1
		}
	}
	return size, err
}
