package simulate

// index files a record, and the node ports that it holds.
func (s *store) index(ref Ref, r *record) {
	s.add(ref, r)
	for _, port := range nodePortsOf(r.object) {
		s.nodePorts[port] = ref
	}
}

func (s *store) unindex(ref Ref, object Object) {
	s.take(ref, object)
	for _, port := range nodePortsOf(object) {
		delete(s.nodePorts, port)
	}
}
