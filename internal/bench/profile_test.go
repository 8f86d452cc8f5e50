package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProfile records what the program does under the load of TestBench into the file in
// OPERETTA_TEST_PROFILE, and prints what a program is worth that is built with it.
func TestProfile(t *testing.T) {
	path := os.Getenv("OPERETTA_TEST_PROFILE")
	if path == "" {
		t.Skip("it wants the machine for itself, for a minute or two: make profile runs it")
	}
	without := build(t, "-pgo=off")
	const seconds = 15
	program := startProgram(t, without, "--pprof")
	recorded := make(chan []byte, 1)
	go func() {
		recorded <- get(t, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", program.metrics, seconds))
	}()
	for _, s := range []sample{read(t, "modelbox"), read(t, "dataservice"), podSet(t, 10)} {
		_, err := load(program.address, post(s.path(), s.body), seconds*time.Second/3)
		require.NoError(t, err)
	}
	profile := withoutPaths(t, <-recorded)
	program.end()
	require.Less(t, len(profile), 100<<10)
	require.NoError(t, os.WriteFile(path, profile, 0o600))

	began := time.Now()
	with := build(t, "-pgo="+path)
	took := time.Since(began)
	of, by := startProgram(t, with), startProgram(t, without)
	by.name = "without"
	for _, kind := range []string{"modelbox", "dataservice"} {
		fmt.Fprint(os.Stderr, table(fmt.Sprintf("make profile: %d KB, built in %s", len(profile)>>10, took.Round(time.Second)), race(t, read(t, kind), of, by)))
	}
}

func get(t *testing.T, url string) []byte {
	response, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %v", url, response.StatusCode, err)
	}
	return body
}

// withoutPaths empties the strings of a profile that are paths of this machine: where the program
// lay. The compiler reads names of functions and lines. A profile is a message of protobuf, of
// which strings are the sixth field.
func withoutPaths(t *testing.T, profile []byte) []byte {
	t.Helper()
	const stringTable = 6
	unzipped, err := gzip.NewReader(bytes.NewReader(profile))
	require.NoError(t, err)
	fields, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	var kept bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&kept, gzip.BestCompression)
	require.NoError(t, err)
	for len(fields) > 0 {
		key, n := binary.Uvarint(fields)
		value, m := binary.Uvarint(fields[n:]) // the number itself, or how long the bytes are
		require.True(t, n > 0 && m > 0 && key&7 <= 2, "the profile is damaged")
		end := n + m
		if key&7 == 2 {
			end += int(value)
		}
		field := fields[:end]
		if key>>3 == stringTable && bytes.HasPrefix(field[n+m:], []byte("/")) {
			field = []byte{field[0], 0}
		}
		_, err := zipped.Write(field)
		require.NoError(t, err)
		fields = fields[end:]
	}
	require.NoError(t, zipped.Close())
	return kept.Bytes()
}
