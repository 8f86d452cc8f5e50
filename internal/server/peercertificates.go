package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"reflect"
)

// maxPeerBytes limits the memory of the certificates that a client has sent. crypto/tls
// keeps them as long as the connection, also those that no CA has signed, and 2 bytes of a
// certificate can become 150: a URI without text becomes a url.URL. One with an
// RSA key of 4096 bits has 8 KiB, as [memoryOf] counts, and 12 KiB with twenty names.
const maxPeerBytes = 64 << 10

// checkPeerMemory implements VerifyConnection of [tls.Config]: the handshake fails where
// the client's certificates take more memory than maxPeerBytes.
func checkPeerMemory(connection tls.ConnectionState) error {
	left := maxPeerBytes
	for _, certificate := range connection.PeerCertificates {
		if left = memoryOf(reflect.ValueOf(certificate), left); left < 0 {
			return fmt.Errorf("the %d certificates of the client take more than %d KiB of memory: send certificates with fewer names, "+
				"and only those between its own and the CA", len(connection.PeerCertificates), maxPeerBytes>>10)
		}
	}
	return nil
}

// checkRawPeerMemory implements VerifyPeerCertificate of [tls.Config]: it is
// [checkPeerMemory] for certificates that have not been parsed.
func checkRawPeerMemory(raw [][]byte, _ [][]*x509.Certificate) error {
	var connection tls.ConnectionState
	for _, text := range raw {
		certificate, err := x509.ParseCertificate(text)
		if err != nil {
			return err
		}
		connection.PeerCertificates = append(connection.PeerCertificates, certificate)
	}
	return checkPeerMemory(connection)
}

// memoryOf returns how many bytes are left of some after a value and all that it refers to.
// What is referred to twice counts twice. It ends where nothing is left, and the result is negative.
func memoryOf(value reflect.Value, left int) int {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return left
		}
		return memoryOf(value.Elem(), left-int(value.Elem().Type().Size()))
	case reflect.String:
		return left - value.Len()
	case reflect.Slice:
		element := value.Type().Elem()
		left -= value.Len() * int(element.Size())
		if !hasReferences(element) {
			return left
		}
		for i := 0; i < value.Len() && left >= 0; i++ {
			left = memoryOf(value.Index(i), left)
		}
	case reflect.Struct:
		for i := 0; i < value.NumField() && left >= 0; i++ {
			left = memoryOf(value.Field(i), left)
		}
	default: // numbers refer to nothing
	}
	return left
}

// hasReferences reports whether values of a type can refer to more than themselves.
func hasReferences(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Struct, reflect.Array, reflect.Map:
		return true
	default:
		return false
	}
}
