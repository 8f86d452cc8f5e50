package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/page"
)

// samplesFolder is where a project has its samples.
const samplesFolder = "deploy/samples"

// firstSample is the one that the page opens with, where there is one of that name.
const firstSample = "modelbox"

func newPlayCommand(p *program) *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "play [FILE...]",
		Short: "Show a page on this machine that plays custom resources",
		Long: `Play serves a page on 127.0.0.1, for this machine alone, that plays custom
resources as simulate does: what they own as a graph, each step, what changes in
which object, and what happens when something fails, vanishes, is edited or is
deleted. A link has all that is needed to play the same again.

The page begins with the files, or where none is named with ` + firstSample + `.yaml in ` + samplesFolder + `,
or the first one there. Nothing is written, and no cluster is called.`,
		Example: `  operetta play
  operetta play deploy/samples/podset.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.servePage(cmd.Context(), args, port) },
	}
	cmd.Flags().IntVar(&port, "port", 7654, "port on 127.0.0.1; 0 for a free one")
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func (p *program) servePage(ctx context.Context, paths []string, port int) error {
	if port < 0 || port > 65535 {
		return cli.Usagef("--port %d is not between 0 and 65535", port)
	}
	options, err := p.playOptions(paths)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("%w: end what uses the port, or write another --port, or 0 for a free one", err)
	}
	_, number, _ := net.SplitHostPort(listener.Addr().String())
	options.Hosts = []string{"127.0.0.1:" + number, "localhost:" + number}
	fmt.Fprintf(p.Out, "The page is at http://%s/ until you interrupt this, with Ctrl-C.\n", options.Hosts[0])
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return serveUntil(ctx, listener, page.Handler(options))
}

// serveUntil serves until the context ends.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// playOptions reads what the page begins with, and compiles the CRDs, which takes a second.
func (p *program) playOptions(paths []string) (options page.Options, err error) {
	player := pagePlayer{p, map[page.File]string{}}
	options.Player = player
	if options.Schemas, err = page.SchemasOf(p.Controllers()); err != nil {
		return options, err
	}
	for _, c := range p.Controllers() {
		if _, err := c.Schema(); err != nil {
			return options, err
		}
	}
	if options.Samples, err = player.samples(); err != nil {
		return options, err
	}
	options.Start.Program = p.Name()
	if len(paths) == 0 && len(options.Samples) > 0 {
		first := max(0, slices.IndexFunc(options.Samples, func(s page.Sample) bool { return s.Name == firstSample }))
		options.Start.Scenario.Files = options.Samples[first].Files
	}
	for _, path := range paths {
		file, err := player.file(path)
		if err != nil {
			return options, err
		}
		options.Start.Scenario.Files = append(options.Start.Scenario.Files, file)
	}
	return options, nil
}

// samples returns the samples of the project in the current folder, or where there are none
// the beginning of one for each kind.
func (p pagePlayer) samples() (samples []page.Sample, err error) {
	paths, err := filepath.Glob(samplesFolder + "/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		file, err := p.file(path)
		if err != nil {
			return nil, err
		}
		samples = append(samples, page.Sample{Name: strings.TrimSuffix(filepath.Base(path), ".yaml"), Files: []page.File{file}})
	}
	if samples != nil {
		return samples, nil
	}
	for _, c := range p.Controllers() {
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: example\nspec:\n  \n", c.Parent.APIVersion, c.Parent.Kind)
		samples = append(samples, page.Sample{Name: c.Name(), Files: []page.File{{Name: c.Name() + ".yaml", Text: text}}})
	}
	return samples, nil
}

// file reads a file, and remembers where it is.
func (p pagePlayer) file(path string) (file page.File, err error) {
	text, err := p.readFile(path)
	if err != nil {
		return file, err
	}
	if text, err = inYAML(path, text); err != nil {
		return file, err
	}
	if len(text) > page.MaxBody/2 {
		return file, fmt.Errorf("%s has more than %d KiB, and a page has no use for that: use simulate", sourceOf(path), page.MaxBody>>11)
	}
	name := filepath.Base(path)
	if path == "-" {
		name = "input.yaml"
	}
	file = page.File{Name: name, Text: string(text)}
	if path != "-" {
		p.paths[file] = path
	}
	return file, nil
}

// ofCluster finds what only a List or an object of a cluster has.
var ofCluster = regexp.MustCompile(`(?m)^ *"?kind"?: *"?[A-Za-z]*List\b|"?\buid"?:`)

// inYAML returns a text that somebody can edit: a dump or a List as a stream of what was applied.
func inYAML(path string, text []byte) ([]byte, error) {
	if !ofCluster.Match(text) {
		return text, nil
	}
	list, err := documentsOf(path, text)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	for _, d := range list {
		part, err := documents.ToYAML(d.json)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.source, err)
		}
		parts = append(parts, part)
	}
	return bytes.Join(parts, []byte("---\n")), nil
}

// scenario returns what the flags say, with the names of the files: their texts may have Secrets.
func (f *simulateFlags) scenario(rounds [][]document) page.Scenario {
	scenario := page.Scenario{Apply: f.apply}
	for _, d := range slices.Concat(rounds...) {
		if file := (page.File{Name: filepath.Base(sourceOf(d.path))}); !slices.Contains(scenario.Files, file) {
			scenario.Files = append(scenario.Files, file)
		}
	}
	for _, action := range f.actions {
		at := action.At
		action.At = 0
		scenario.Actions = append(scenario.Actions, page.Action{At: at, Action: action.String()})
	}
	return scenario
}
