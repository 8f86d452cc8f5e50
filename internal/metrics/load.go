package metrics

import "github.com/prometheus/client_golang/prometheus"

// Load is how busy a server is.
type Load struct {
	// Requests is the number of requests in flight.
	Requests int
	// Connections is the number of connections to the hook port, of at most
	// MostConnections.
	Connections, MostConnections int
	// Memory are the parts of the memory budget, in bytes, and Slots the parts of the
	// number of hooks that may run at once.
	Memory, Slots []Share
}

// Share is a part of the memory budget or of the hook slots.
type Share struct {
	Part       string
	Size, Used int64
	Waiting    int // number of waiting requests
}

// loadCollector reads the server's Load at each scrape.
type loadCollector struct{ load func() Load }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	inFlight        = gauge("operetta_requests_in_flight", "Requests for hooks that have not been answered yet.")
	connections     = gauge("operetta_connections", "Open connections to the port of the hooks.")
	mostConnections = gauge("operetta_connections_limit", "The most connections that the port of the hooks has.")

	memorySize    = gauge("operetta_memory_budget_bytes", "Size of a part of the memory budget of all requests.", "part")
	memoryUsed    = gauge("operetta_memory_used_bytes", "What requests hold of a part of the memory budget.", "part")
	memoryWaiting = gauge("operetta_memory_waiting_requests", "Requests that wait for a part of the memory budget.", "part")

	slotsSize    = gauge("operetta_hook_slots", "Hooks of a sort that may run at once.", "part")
	slotsUsed    = gauge("operetta_hook_slots_used", "Hooks of a sort that are running.", "part")
	slotsWaiting = gauge("operetta_hook_slots_waiting_requests", "Requests that wait until a hook of their sort may run.", "part")
)

// Describe implements [prometheus.Collector].
func (c loadCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		inFlight, connections, mostConnections, memorySize, memoryUsed, memoryWaiting, slotsSize, slotsUsed, slotsWaiting,
	} {
		to <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c loadCollector) Collect(to chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, value int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	load := c.load()
	send(inFlight, int64(load.Requests))
	send(connections, int64(load.Connections))
	send(mostConnections, int64(load.MostConnections))
	for _, share := range load.Memory {
		send(memorySize, share.Size, share.Part)
		send(memoryUsed, share.Used, share.Part)
		send(memoryWaiting, int64(share.Waiting), share.Part)
	}
	for _, share := range load.Slots {
		send(slotsSize, share.Size, share.Part)
		send(slotsUsed, share.Used, share.Part)
		send(slotsWaiting, int64(share.Waiting), share.Part)
	}
}
