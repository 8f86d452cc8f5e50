package server

import (
	"crypto/rsa"
	"crypto/x509"
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
}
