package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/metacontroller"
)

// pair are the two files of an exchange.
type pair struct {
	key, name     string
	input, answer []byte
}

const (
	// mostYAML is the size in bytes up to which a file is written in YAML. A larger one is written
	// in JSON, which is also YAML: printing YAML takes many times the memory.
	mostYAML = 256 << 10
	// mostAnswer is the size limit, in bytes, of the answer to a masked request: more children may
	// be outdated in it.
	mostAnswer = 4 << 20
	// askTime is how long the hook may take to answer it.
	askTime = 3 * time.Second
)

// newCase returns the files of an exchange, or nil if they are in the folder. Its errors never
// quote the request: each is a [reason].
func (r *Recorder) newCase(e Exchange) (*pair, error) {
	request, err := masked(e, r.schemaOf(e.Controller))
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(request)
	dropVolatile(request)
	stable, failure := json.Marshal(request)
	if err != nil || failure != nil {
		return nil, dropInvalid
	}
	sum := sha256.Sum256(stable)
	out := &pair{key: hex.EncodeToString(sum[:8])}
	if r.files.keys[e.Controller.Name()+"/"+string(e.Hook)+"/"+out.key] {
		return nil, nil //nolint:nilnil // nothing is to be written
	}
	return out, out.fill(e, encoded)
}

// schemaOf returns the schema of a parent. It is empty where there is no CRD: then the spec is a
// user's.
func (r *Recorder) schemaOf(c metacontroller.Controller) map[string]any {
	if r.schemas[c.Name()] == nil {
		schema, err := crd.Written(c.CRD.Text(), c.Parent.Version())
		if err != nil || schema == nil {
			schema = map[string]any{}
		}
		r.schemas[c.Name()] = schema
	}
	return r.schemas[c.Name()]
}

// dropVolatile removes the metadata that changes without a change of the object.
func dropVolatile(value any) {
	switch value := value.(type) {
	case map[string]any:
		if metadata, ok := value["metadata"].(map[string]any); ok {
			for _, field := range []string{"resourceVersion", "managedFields", "generation"} {
				delete(metadata, field)
			}
		}
		for _, member := range value {
			dropVolatile(member)
		}
	case []any:
		for _, item := range value {
			dropVolatile(item)
		}
	}
}

// fill fills in the texts of the two files. The answer is the one to the masked request.
func (out *pair) fill(e Exchange, request []byte) error {
	var object struct{ Parent identity }
	if json.Unmarshal(request, &object) != nil {
		return dropInvalid
	}
	metadata := object.Parent.Metadata
	out.name = fmt.Sprintf("%s-g%d-%s", fileName(metadata.Name), metadata.Generation, out.key)
	body := append(fmt.Appendf(nil, `{"now":%q,`, e.Now.Format(time.RFC3339)), request[1:]...)

	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	ask := func(hook metacontroller.HookName, now time.Time, request []byte) (metacontroller.Answer, error) {
		return e.Controller.CallContext(ctx, hook, now, request, mostAnswer)
	}
	c, err := corpus.New(ask, e.Controller, e.Hook, body)
	var answer metacontroller.Answer
	if err == nil {
		answer, err = ask(c.Hook, c.Now, c.Request)
	}
	switch {
	case ctx.Err() != nil || len(answer.Body) > maxExchange:
		return dropLarge
	case err != nil:
		return dropInvalid
	}
	var failure error
	out.answer, err = textOf(answer.Body)
	if out.input, failure = textOf(body); err != nil || failure != nil {
		return dropInvalid
	}
	out.input = append(fmt.Appendf(nil, "# Recorded: %s of %s/%s at generation %d.\n",
		e.Hook, fileName(metadata.Namespace), fileName(metadata.Name), metadata.Generation), out.input...)
	return nil
}

type identity struct {
	Metadata struct {
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
}

// textOf returns a JSON text as it is written to a file.
func textOf(body []byte) ([]byte, error) {
	if len(body) > mostYAML {
		return append(body, '\n'), nil
	}
	return documents.ToYAML(body)
}

// notInFiles is what a name of an object may have that is not written in the name of a file.
var notInFiles = regexp.MustCompile(`[^A-Za-z0-9]+`)

// fileName returns a name that is safe in a file name: a request that was not made by an API server
// may have any name.
func fileName(name string) string {
	name = strings.Trim(notInFiles.ReplaceAllString(name, "-"), "-")
	return cmp.Or(strings.TrimRight(name[:min(100, len(name))], "-"), "unnamed")
}
