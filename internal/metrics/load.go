package metrics

// Load is how busy a server is.
type Load struct {
	// Requests is the number of requests in flight.
	Requests func() int64
	// Connections is the number of connections to the hook port, of at most MaxConnections.
	Connections    func() int64
	MaxConnections int64
	// Memory are the parts of the memory budget, in bytes, and Slots the limits of hooks
	// that run at once.
	Memory, Slots []Share
}

// Share is one limit. Waiting is the number of requests that wait for it.
type Share struct {
	Part          string
	Size          int64
	Used, Waiting func() int64
}

func (m *Metrics) addLoad(load Load) {
	constant := func(value int64) func() int64 { return func() int64 { return value } }
	m.gauge("operetta_requests_in_flight", "Requests for hooks that have not been answered yet.", "", load.Requests)
	m.gauge("operetta_connections", "Open connections to the hook port.", "", load.Connections)
	m.gauge("operetta_connections_limit", "The maximum number of connections to the hook port.", "", constant(load.MaxConnections))
	for _, share := range load.Memory {
		m.gauge("operetta_memory_budget_bytes", "Size of a part of the memory budget of all requests.", share.Part, constant(share.Size))
		m.gauge("operetta_memory_used_bytes", "What requests hold of a part of the memory budget.", share.Part, share.Used)
		m.gauge("operetta_memory_waiting_requests", "Requests that wait for a part of the memory budget.", share.Part, share.Waiting)
	}
	for _, share := range load.Slots {
		m.gauge("operetta_hook_slots", "Hooks that may run at once.", share.Part, constant(share.Size))
		m.gauge("operetta_hook_slots_used", "Hooks that are running.", share.Part, share.Used)
		m.gauge("operetta_hook_slots_waiting_requests", "Requests that wait until their hook may run.", share.Part, share.Waiting)
	}
}
