package certtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
)

// The content types of records, and the type of a message of a handshake.
const (
	HandshakeRecord = 22
	DataRecord      = 23

	certificateMessage = 11
)

// Records writes TLS records of any type after the handshake, which no client of crypto/tls
// does.
type Records struct {
	net.Conn

	TLS    *tls.Conn // reads
	sealed cipher.AEAD
	iv     []byte
	number uint64
}

// DialRecords connects with TLS 1.3.
func DialRecords(address string, config *tls.Config) (*Records, error) {
	var keys bytes.Buffer
	config = config.Clone()
	config.KeyLogWriter, config.MinVersion = &keys, tls.VersionTLS13
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &Records{Conn: conn, TLS: tls.Client(conn, config)}
	if err := r.handshake(&keys); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return r, nil
}

// handshake derives the client's key as RFC 8446, 7.3 says.
func (r *Records) handshake(keys *bytes.Buffer) error {
	if err := r.TLS.Handshake(); err != nil {
		return err
	}
	if suite := r.TLS.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		return fmt.Errorf("%s is not what both ends have in hardware", tls.CipherSuiteName(suite))
	}
	_, secret, _ := strings.Cut(keys.String(), "CLIENT_TRAFFIC_SECRET_0 ")
	_, secret, _ = strings.Cut(secret, " ")
	secret, _, _ = strings.Cut(secret, "\n")
	decoded, err := hex.DecodeString(secret)
	if err != nil {
		return err
	}
	key, err := expanded(decoded, "tls13 key", 16)
	if err != nil {
		return err
	}
	if r.iv, err = expanded(decoded, "tls13 iv", 12); err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	r.sealed, err = cipher.NewGCM(block)
	return err
}

func expanded(secret []byte, label string, length int) ([]byte, error) {
	info := append([]byte{0, byte(length), byte(len(label))}, label...)
	return hkdf.Expand(sha256.New, secret, string(append(info, 0)), length)
}

// WriteRecord writes a record.
func (r *Records) WriteRecord(kind byte, text []byte) error {
	nonce := bytes.Clone(r.iv)
	number := binary.BigEndian.AppendUint64(nil, r.number)
	for i := range number {
		nonce[4+i] ^= number[i]
	}
	r.number++
	length := len(text) + 1 + r.sealed.Overhead()
	header := []byte{DataRecord, 3, 3, byte(length >> 8), byte(length)}
	_, err := r.Write(r.sealed.Seal(header, nonce, append(bytes.Clone(text), kind), header))
	return err
}

// WriteCertificate writes the first bytes of a message with certificates that has 256 KiB,
// as many as crypto/tls takes.
func (r *Records) WriteCertificate(length int) error {
	message := append([]byte{certificateMessage, 3, 0xff, 0xff}, make([]byte, length-4)...)
	for len(message) > 0 {
		n := min(len(message), 16<<10)
		if err := r.WriteRecord(HandshakeRecord, message[:n]); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}
