// Command convert turns the Kubernetes manifests of a folder into custom
// resources, prints them, and says on the standard error what fits: Deployments,
// with the Services that select them, become ModelBoxes, Pod templates become
// PodSets and MyJobs, and Tekton Tasks become Builds. Above each resource stand
// its source, what of that has no counterpart, and what the CRD refuses.
//
//	go run ./internal/convert FOLDER
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/operetta-dev/operetta/internal/documents"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("convert", flag.ContinueOnError)
	flags.SetOutput(stderr)
	images := flags.String("images", "", "convert only what runs an image that matches this regular `expression`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one folder of manifests")
	}
	pattern, err := regexp.Compile(`"image":"[^"]*(` + *images + ")")
	if err != nil {
		return fmt.Errorf("-images: %w", err)
	}
	found, err := read(os.DirFS(flags.Arg(0)))
	if err != nil {
		return err
	}
	report, seen := report{}, map[string]bool{}
	for _, m := range found.manifests {
		for _, c := range convert(m, found) {
			text, err := json.Marshal(c.object)
			if err != nil {
				return fmt.Errorf("%s: %w", c.source, err)
			}
			if seen[string(text)] || !pattern.Match(text) {
				continue
			}
			seen[string(text)] = true
			if err := c.admit(ctx); err != nil {
				return fmt.Errorf("%s: %w", c.source, err)
			}
			report.add(c)
			if err := c.print(stdout, text); err != nil {
				return fmt.Errorf("printing what was made of %s: %w", c.source, err)
			}
		}
	}
	report.print(stderr)
	fmt.Fprintf(stderr, "left out: %d documents that are no YAML or are templates, %d parts of objects, %d objects of other kinds\n",
		found.unreadable, found.parts, found.others)
	return nil
}

// print writes a custom resource as a YAML document.
func (c *conversion) print(out io.Writer, text []byte) error {
	content, err := documents.ToYAML(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "---\n# from: %s\n", c.source)
	for _, text := range c.told {
		fmt.Fprintf(out, "# %s\n", text)
	}
	_, err = out.Write(content)
	return err
}
