package record

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// placeholders replaces strings. Within one request the same string always has
// the same placeholder, so that equal strings stay equal. Placeholders are
// numbered as they are needed, and reveal nothing about what they replace.
type placeholders struct {
	numbers map[string]int
	// hashes replaces hashes: the hash of a replaced value could be found by
	// trying.
	hashes map[string]string
}

func newPlaceholders() *placeholders {
	return &placeholders{numbers: map[string]int{}, hashes: map[string]string{}}
}

// of returns the placeholder of a string: a word that is valid as a name, as
// the value of a label and as a text.
func (p *placeholders) of(text string) string {
	n, found := p.numbers[text]
	if !found {
		n = len(p.numbers) + 1
		p.numbers[text] = n
	}
	return "redacted-" + strconv.Itoa(n)
}

// scheme matches the scheme of an address, which is no secret.
var scheme = regexp.MustCompile(`^[a-z]{2,10}$`)

var scpForm = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.-]*:[^ ]+$`)

// shaped returns the placeholder of a string in the form that a schema may
// require: an address stays an address of the same scheme, a path stays a path.
func (p *placeholders) shaped(text string) string {
	place := p.of(text)
	kind, rest, found := strings.Cut(text, "://")
	switch {
	case found && scheme.MatchString(kind) && !strings.ContainsAny(rest, " \n"):
		address := kind + "://" + place + ".invalid"
		if parsed, err := url.Parse(text); err == nil && parsed.User == nil && parsed.Port() != "" {
			address += ":" + parsed.Port()
		}
		if strings.Contains(rest, "/") {
			address += "/" + place
		}
		return address
	case strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n"):
		return "/" + place
	case scpForm.MatchString(text):
		return "git@" + place + ".invalid:" + place
	}
	return place
}

// encoded returns the placeholder of a field of bytes: in base64, if the string
// is.
func (p *placeholders) encoded(text string) string {
	if _, err := base64.StdEncoding.DecodeString(text); err != nil {
		return p.of(text)
	}
	return base64.StdEncoding.EncodeToString([]byte(p.of(text)))
}

// hash returns the placeholder of a hash, of the same length.
func (p *placeholders) hash(text string) string {
	if place, found := p.hashes[text]; found {
		return place
	}
	sum := sha256.Sum256([]byte("hash " + strconv.Itoa(len(p.hashes)+1)))
	place := strings.Repeat(hex.EncodeToString(sum[:]), 1+len(text)/64)[:len(text)]
	p.hashes[text] = place
	return place
}

// derived matches the hashes within names and labels: in hexadecimal digits as
// Operetta writes them, or in the alphabet of Kubernetes' controllers.
var derived = regexp.MustCompile(`\b([0-9a-f]{8,64}|[bcdfghjklmnpqrstvwxz2456789]{8,10})\b`)

// isHash reports whether a match of derived has letters and digits, unlike a
// word or a date.
func isHash(text string) bool {
	return strings.ContainsAny(text, "0123456789") && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
}

// hashesIn returns the hashes within a string.
func hashesIn(text string) []string {
	var found []string
	for _, match := range derived.FindAllString(text, -1) {
		if isHash(match) {
			found = append(found, match)
		}
	}
	return found
}
