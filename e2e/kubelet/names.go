package kubelet

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// Names is a proxy that knows the addresses of Services. Programs outside of the cluster use it
// in the place of the cluster's DNS.
type Names struct {
	listener net.Listener
	server   *http.Server

	mu        sync.Mutex
	addresses map[string]func() (string, error)
}

// NewNames starts the proxy on a loopback address.
func NewNames() (*Names, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the proxy for names of Services: %w", err)
	}
	n := &Names{listener: listener, addresses: map[string]func() (string, error){}}
	n.server = &http.Server{Handler: http.HandlerFunc(n.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = n.server.Serve(listener) }()
	return n, nil
}

// Set says where the Service of a name, such as operetta.operetta-system, is at the time of each
// connection. All its ports are one.
func (n *Names) Set(name string, address func() (string, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses[name] = address
}

// Env has a program use the proxy.
func (n *Names) Env() []string {
	url := "http://" + n.listener.Addr().String()
	return []string{"HTTP_PROXY=" + url, "HTTPS_PROXY=" + url}
}

// Close ends the proxy. Connections through it with TLS stay until one side closes them.
func (n *Names) Close() error { return n.server.Close() }

func (n *Names) find(host string) (string, error) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	n.mu.Lock()
	address := n.addresses[name]
	n.mu.Unlock()
	if address == nil {
		return "", fmt.Errorf("no Service %s is known", name)
	}
	return address()
}

func (n *Names) serve(w http.ResponseWriter, r *http.Request) {
	address, err := n.find(r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if r.Method != http.MethodConnect {
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL.Host = address }}).ServeHTTP(w, r)
		return
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	// The answer is written to the connection that is taken over: behind one that is written
	// here, the first byte of the client would be read as the begin of its next request.
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	join(client, server)
}

// join copies between two connections until one of them ends, and closes both.
func join(client, server net.Conn) {
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
}

// forward passes connections on to an address until the listener is closed.
func forward(listener net.Listener, address func() (string, error)) {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond) // too many open files
			continue
		}
		go func() {
			server, err := dial(address)
			if err != nil {
				_ = client.Close()
				return
			}
			join(client, server)
		}()
	}
}

func dial(address func() (string, error)) (net.Conn, error) {
	to, err := address()
	if err != nil {
		return nil, err
	}
	return net.Dial("tcp", to)
}
