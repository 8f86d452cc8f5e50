package metacontroller

// Size returns how many bytes a child takes in an answer, but for its hash. An
// error means that it has no form in JSON.
func Size(object Object) (int, error) {
	size, _, err := Sizes(object)
	return size, err
}

// Sizes returns how many bytes a child takes in an answer, as [Size] does, and in a
// request: Metacontroller writes that with Go's encoder, which writes each "<", ">"
// and "&" as six.
func Sizes(object Object) (answer, request int, err error) {
	wire, err := appendObject(make([]byte, 0, 2048), object)
	request = len(wire)
	for _, c := range wire {
		if c == '<' || c == '>' || c == '&' {
			request += len(`\u003c`) - 1
		}
	}
	return len(wire), request, err
}
