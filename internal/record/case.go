package record

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/metacontroller"
)

// pair are the two files of an exchange.
type pair struct {
	key, name     string
	input, answer []byte
}

// errInvalid: the hook refuses the request after masking.
var errInvalid = errors.New("the hook does not answer the request without what is not recorded")

var errTooLarge = errors.New("the answer is too large")

// mostYAML is the size in bytes up to which a request is written in YAML. A
// larger one is written in JSON, which is also YAML: printing YAML takes many
// times the memory.
const mostYAML = 256 << 10

// mostAnew is the size limit, in bytes, of an answer in which all children are
// new: to a request without children, or with children that masking has made
// outdated. A child is estimated to be as large as its parent.
const mostAnew = 4 << 20

// newMask returns a mask for an exchange. Its error never quotes the exchange.
func newMask(e Exchange) (*mask, error) {
	group, _, _ := strings.Cut(e.Controller.Parent.APIVersion, "/")
	m := &mask{places: newPlaceholders(), known: known{
		group: group, names: map[string]bool{}, said: map[string]bool{}, words: map[string]bool{}, enumerations: enumerationsOf(e.Controller),
	}}
	var objects struct {
		Parent            json.RawMessage
		Children, Related map[string]map[string]identity
	}
	var parent identity
	if json.Unmarshal(e.Request, &objects) != nil || json.Unmarshal(objects.Parent, &parent) != nil {
		return nil, errNotJSON
	}
	m.known.parent = parent.Metadata.Name
	m.known.add(parent)
	m.known.members = membersOf(objects.Parent)
	observed := 0
	for _, group := range objects.Children {
		observed += len(group)
	}
	if observed*len(objects.Parent) > mostAnew {
		return nil, errTooLarge
	}
	for _, groups := range []map[string]map[string]identity{objects.Children, objects.Related} {
		for _, group := range groups {
			for _, object := range group {
				m.known.add(object)
			}
		}
	}
	if e.Hook == metacontroller.SyncHook {
		asked, err := corpus.Hashes(e.Answer)
		if err != nil {
			return nil, errors.New("the answer is no JSON")
		}
		m.asked = asked
	}
	return m, nil
}

type identity struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// membersOf returns the names of the fields of a parent's spec.
func membersOf(parent json.RawMessage) map[string]bool {
	var object struct{ Spec map[string]json.RawMessage }
	if json.Unmarshal(parent, &object) != nil {
		return nil // a damaged spec has none
	}
	members := make(map[string]bool, len(object.Spec))
	for name := range object.Spec {
		members[name] = memberForm.MatchString(name) && !looksSecret(name)
	}
	return members
}

func (k known) add(object identity) {
	if name := object.Metadata.Name; nameForm.MatchString(name) && !looksSecret(name) {
		k.names[name] = true
	}
}

// rounds is how often a request is masked at most. What is learned from its
// answers changes it, and so changes the answers.
const rounds = 3

// record returns the files of an exchange, or nil if the same request has been
// recorded. Its errors never quote the request.
func (r *Recorder) record(e Exchange) (*pair, error) {
	m, err := newMask(e)
	if err != nil {
		return nil, err
	}
	if err := m.run(e.Request); err != nil {
		return nil, err
	}
	if r.isRepeated(e, m.before.Sum(nil)) {
		return nil, nil //nolint:nilnil // nothing is to be written
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	a := asker{e, ctx}
	original := a.original()
	for range rounds {
		if !m.learn(original, a.masked(m.out.Bytes())) {
			break
		}
		if err := m.run(e.Request); err != nil {
			return nil, err
		}
	}
	out := &pair{key: hex.EncodeToString(m.after.Sum(nil)[:8])}
	if r.isWritten(e, out.key) {
		return nil, nil //nolint:nilnil // nothing is to be written
	}
	return out, out.fill(a, m.out.Bytes())
}

// fill fills in the texts of the two files.
func (out *pair) fill(a asker, request []byte) error {
	var parent struct{ Parent identityWithGeneration }
	if json.Unmarshal(request, &parent) != nil {
		return errNotJSON
	}
	metadata := parent.Parent.Metadata
	out.name = fmt.Sprintf("%s-g%d-%s", fileName(metadata.Name), metadata.Generation, out.key)
	body := withTime(a.Exchange, request)
	// The answer in the file is the one to the masked request.
	c, err := corpus.NewAsking(a.ask, a.Controller, a.Hook, body)
	if err != nil {
		return a.failure()
	}
	answer, err := a.ask(c.Hook, c.Now, c.Request)
	if err != nil {
		return a.failure()
	}
	if len(answer.Body) > maxExchange {
		return errTooLarge
	}
	if out.answer, err = textOf(answer.Body); err != nil {
		return err
	}
	if out.input, err = textOf(body); err != nil {
		return err
	}
	out.input = append(fmt.Appendf(nil, "# Recorded: %s of %s/%s at generation %d.\n",
		a.Hook, fileName(metadata.Namespace), fileName(metadata.Name), metadata.Generation), out.input...)
	return nil
}

// failure returns why a case is not written, without quoting the hook.
func (a asker) failure() error {
	if a.ctx.Err() != nil {
		return errTooLarge
	}
	return errInvalid
}

// withTime returns a request with its time, as it stands in an .in.yaml file.
func withTime(e Exchange, request []byte) []byte {
	return append(fmt.Appendf(nil, `{"now":%q,`, e.Now.Format(time.RFC3339)), request[1:]...)
}

type identityWithGeneration struct {
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

var notInFileNames = regexp.MustCompile(`[^A-Za-z0-9-]+`)

// fileName returns a name that is safe in a file name: a request that was not
// made by an API server may have any name.
func fileName(name string) string {
	const most = 100
	name = strings.Trim(notInFileNames.ReplaceAllString(name, "-"), "-")
	if name == "" {
		return "unnamed"
	}
	return strings.TrimRight(name[:min(most, len(name))], "-")
}
