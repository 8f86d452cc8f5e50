package cluster

import (
	"context"
	"net"
	"net/http"

	"github.com/operetta-dev/operetta/e2e/tools"
)

// etcd describes the database of the cluster.
//
// It listens on Unix sockets in the cluster's directory instead of on loopback
// ports: only the current user can open them, so that no certificates are
// needed to keep others on this machine out, and no ports can be taken.
func (c *Cluster) etcd() Program {
	return c.program(tools.Etcd, c.etcdReady,
		"--name=e2e",
		"--data-dir="+c.path("etcd"),
		"--listen-client-urls="+c.etcdURL(),
		// A path relative to the working directory: etcd ignores absolute ones.
		"--listen-peer-urls=unix://etcd-peer.sock",
		// Required, and must be a host and port, but the only member of a
		// cluster has nobody to tell its address to.
		"--advertise-client-urls=http://"+net.JoinHostPort(loopback, "0"),
		// The data need not survive a crash of the machine.
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
}

// etcdURL is how the API server reaches etcd.
func (c *Cluster) etcdURL() string {
	return "unix://" + c.etcdSocket()
}

func (c *Cluster) etcdSocket() string {
	return c.path("etcd.sock")
}

func (c *Cluster) etcdReady(ctx context.Context) error {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.etcdSocket())
		},
		DisableKeepAlives: true,
	}
	return getOK(ctx, &http.Client{Transport: transport}, "http://etcd/readyz", "")
}
