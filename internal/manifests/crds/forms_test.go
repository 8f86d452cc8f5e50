package crds

import (
	"math/rand/v2"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestAddresses: the API server takes each address that the pattern matches, and the pattern
// matches each that it takes, but for some that begin with a group of 0.
func TestAddresses(t *testing.T) {
	pattern := regexp.MustCompile(addressPattern)
	for text, want := range map[string]bool{
		"10.0.0.1": true, "255.255.255.255": true, "256.0.0.1": false, "10.0.0.01": false, "10.0.0": false,
		"::": true, "::1": true, "fe80::": true, "2001:db8::ffff": true, "2001:db8:0:0:0:0:0:1": true, "1:2:3:4:5:6:7:8": true, "1::3:4:5:6:7:8": true,
		"1:2:3:4:5:6:7::": true, "1:2:3:4:5:6::8": true, "a:b:c": false, "1:2:3:4:5:6:7:8:9": false, "1::2::3": false, "12345::": false, ":1": false, "0:0:0:0:0:0:0:1": true, "0::1": true, "0:0::1": true, "0064:ff9b::1": true, "::1.2.3.4": true,
		"64:ff9b::8.8.8.8": true, "2001:db8::192.0.2.33": true, "1:2:3:4:5:6:1.2.3.4": true, "1:2:3:4:5:6:7:1.2.3.4": false, "FD00::A": true, "0::ffff:102:304": false, ":::": false,
		"::ffff:1.2.3.4": false, "::ffff:102:304": false, "0:0:0:0:0:ffff:102:304": false, "fe80::1%eth0": false, "": false, "::1:2:3:4:5:6:7:8": false,
		"0:0:0:0:0:ffff:1.2.3.4": false, "0:0:0:0:0:0:ffff:1": true, "0:0:0:0:0:0::1:2": false, "0:0:0:0:0::1:2": true,
	} {
		require.Equal(t, want, pattern.MatchString(text), text)
	}
	matched, repetitions := 0, 200_000
	if testing.Short() {
		repetitions /= 10
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // for a test
	parts := []string{":", ":", "::", "0", "1", "ffff", "2001", "db8", "abc", "00a", "1.2.3.4", "10", "g"}
	for range repetitions {
		var text strings.Builder
		for range 1 + random.IntN(17) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		address, err := netip.ParseAddr(text.String())
		if err == nil && address.Zone() == "" && address.As16()[0]|address.As16()[1] != 0 && !address.Is4In6() {
			require.True(t, pattern.MatchString(text.String()), text.String())
		}
		if pattern.MatchString(text.String()) {
			matched++
			require.Empty(t, validation.IsValidIPForLegacyField(field.NewPath("ip"), text.String(), true, nil), text.String())
		}
	}
	require.Greater(t, matched, repetitions/200)
}

// TestNamesOfWindowsUsers: the API server counts their bytes.
func TestNamesOfWindowsUsers(t *testing.T) {
	var written string
	for of, about := range aboutContainers {
		if text, ok := about.fields["runAsUserName"]["pattern"].(string); ok {
			require.Equal(t, "WindowsSecurityContextOptions", of.Name())
			written = text
		}
	}
	pattern := regexp.MustCompile(written)
	for text, want := range map[string]bool{
		"ContainerUser": true, `NT AUTHORITY\SYSTEM`: true, `NT AUTHORITY\Local Service`: true, "jürg": true, `Zürich\jürg`: true, "a b$": true,
		strings.Repeat("a", 104): true, strings.Repeat("a", 105): false, strings.Repeat("é", 26): true, strings.Repeat("é", 53): false,
		strings.Repeat("a", 255) + `\a`: true, strings.Repeat("a", 256) + `\a`: false, strings.Repeat("é", 129) + `\a`: false,
		`a\b\c`: false, `a"b`: false, "a/b": false, "a@b": false, "a\tb": false, "": false, `a\`: false,
	} {
		require.Equal(t, want, pattern.MatchString(text), text)
	}
	for character := rune(0x20); character < 0x7f; character++ {
		require.Equal(t, !strings.ContainsRune(`"/[]:;|=,+*?<>@`, character), pattern.MatchString("a"+string(character)+"b"), string(character))
	}
}
