package metacontroller

// Size returns how many bytes a child takes in an answer, but for its hash. An
// error means that it has no form in JSON.
func Size(object Object) (int, error) {
	wire, err := appendObject(make([]byte, 0, 2048), object)
	return len(wire), err
}
