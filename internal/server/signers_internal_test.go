package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeKeysOfSigners: what a client sends is checked before any signature.
func TestLargeKeysOfSigners(t *testing.T) {
	signer := func(bits uint, exponent int) []*x509.Certificate {
		return []*x509.Certificate{{PublicKey: &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), bits-1), E: exponent}}}
	}
	require.NoError(t, checkSigners(signer(4096, 65537)))
	require.EqualError(t, checkSigners(signer(4097, 65537)),
		"an intermediate certificate of the client has an RSA key of 4097 bits and the exponent 65537: use at most 4096 bits and 65537, or ECDSA")
	require.ErrorContains(t, checkSigners(signer(2048, 65539)), "the exponent 65539")
	require.NoError(t, checkPeerKey(tls.ConnectionState{}))
	require.NoError(t, checkPeerKey(tls.ConnectionState{PeerCertificates: signer(4096, 65537)}))
	require.EqualError(t, checkPeerKey(tls.ConnectionState{PeerCertificates: signer(4097, 65537)}),
		"the client's certificate has an RSA key of 4097 bits and the exponent 65537: use at most 4096 bits and 65537, or ECDSA")
	require.ErrorContains(t, checkPeerKey(tls.ConnectionState{PeerCertificates: signer(2048, 65539)}), "the exponent 65539")

	for curve, isTaken := range map[elliptic.Curve]bool{elliptic.P224(): true, elliptic.P256(): true, elliptic.P384(): true, elliptic.P521(): false} {
		certificates := []*x509.Certificate{{PublicKey: &ecdsa.PublicKey{Curve: curve}}}
		signers, own := checkSigners(certificates), checkPeerKey(tls.ConnectionState{PeerCertificates: certificates})
		if isTaken {
			require.NoError(t, errors.Join(signers, own), curve.Params().Name)
		} else {
			require.EqualError(t, signers, "an intermediate certificate of the client has an ECDSA key of P-521: use P-256 or P-384")
			require.EqualError(t, own, "the client's certificate has an ECDSA key of P-521: use P-256 or P-384")
		}
	}
}
