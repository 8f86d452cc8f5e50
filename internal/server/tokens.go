package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	// tokenAge is how long tokens are used before the file is read again.
	tokenAge = time.Second
	// mostTokenBytes is the maximum size of the file of tokens.
	mostTokenBytes = 64 << 10
	// leastToken is the minimum length of a token.
	leastToken = 16
)

// tokenForm matches a valid bearer token (RFC 6750).
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// tokens are the valid bearer tokens. The file is read again by the first request after
// tokenAge.
type tokens struct {
	file string
	log  *slog.Logger

	mu     sync.Mutex
	read   time.Time           // when the file was last read
	text   []byte              // its content at that time
	failed string              // why that content is invalid, or empty
	sums   [][sha256.Size]byte // hashes of the valid tokens
}

// loadTokens reads a file of tokens.
func loadTokens(file string, log *slog.Logger) (*tokens, error) {
	text, err := readTokens(file)
	if err != nil {
		return nil, err
	}
	t := &tokens{file: file, log: log, read: time.Now(), text: text}
	if t.sums, err = parseTokens(text); err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	return t, nil
}

// readTokens returns the content of a file of tokens. Opening a pipe would wait for what writes
// to it, and requests with it.
func readTokens(file string) ([]byte, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: write the tokens to one", file)
	}
	source, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }()
	text, err := io.ReadAll(io.LimitReader(source, mostTokenBytes+1))
	if err != nil {
		return nil, err
	}
	return text, nil
}

// parseTokens returns a hash of each token. An error never contains a token.
func parseTokens(text []byte) ([][sha256.Size]byte, error) {
	if len(text) > mostTokenBytes {
		return nil, fmt.Errorf("is larger than %d bytes: write one token on each line", mostTokenBytes)
	}
	var sums [][sha256.Size]byte
	number := 0
	for line := range bytes.Lines(text) {
		number++
		token := bytes.TrimSpace(line)
		switch {
		case len(token) == 0:
			continue
		case len(token) < leastToken:
			return nil, fmt.Errorf("has a token of less than %d characters on line %d: write a random one, as `head -c 32 /dev/urandom | base64` prints it", leastToken, number)
		case !tokenForm.Match(token):
			return nil, fmt.Errorf("has a token on line %d that cannot stand in a header: write letters, digits and -._~+/ only", number)
		}
		sums = append(sums, sha256.Sum256(token))
	}
	if len(sums) == 0 {
		return nil, fmt.Errorf("has no token: write one on each line, as `head -c 32 /dev/urandom | base64` prints it")
	}
	return sums, nil
}

// current returns the hashes of the tokens that are valid now.
func (t *tokens) current() [][sha256.Size]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.read) < tokenAge {
		return t.sums
	}
	t.read = time.Now()
	text, err := readTokens(t.file)
	if err == nil && bytes.Equal(text, t.text) {
		return t.sums
	}
	var sums [][sha256.Size]byte
	if err == nil {
		t.text = text
		sums, err = parseTokens(text)
	} else {
		t.text = nil // so that the same content is parsed again once the file is readable
	}
	if err != nil {
		if t.failed != err.Error() {
			t.log.Error("the former tokens stay: the file cannot be used", "file", t.file, "error", err)
		}
		t.failed = err.Error()
		return t.sums
	}
	t.sums, t.failed = sums, ""
	t.log.Info("reloaded", "what", "tokens", "file", t.file, "count", len(sums))
	return t.sums
}

// isValid reports whether the value of an Authorization header is a valid bearer token.
// It takes the same time whichever token matches.
func (t *tokens) isValid(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	same := 0
	for _, valid := range t.current() {
		same |= subtle.ConstantTimeCompare(sum[:], valid[:])
	}
	return same == 1 && strings.EqualFold(scheme, "Bearer")
}
