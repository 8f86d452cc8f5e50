package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	configFlag = "config"
	// policyKey is the key of a configuration file below which operators have their
	// policies, by their names.
	policyKey = "policy"
)

// configuration is what a configuration file says: flags of serve by their names, and
// policies of operators. The zero value is that of no file.
type configuration struct {
	path     string
	text     []byte
	settings map[string]any
	policies map[string]json.RawMessage
}

// readConfiguration reads a file, if there is one.
func readConfiguration(path string) (*configuration, error) {
	c := &configuration{path: path}
	if path == "" {
		return c, nil
	}
	var err error
	if c.text, err = documents.ReadFile(path); err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	content, err := documents.ToJSON(c.text)
	if err != nil {
		return nil, fmt.Errorf("--config: %s %w", path, err)
	}
	var file struct {
		Policy map[string]json.RawMessage `json:"policy"`
	}
	if err := errors.Join(json.Unmarshal(content, &c.settings), json.Unmarshal(content, &file)); err != nil {
		return nil, fmt.Errorf("--config: %s: %w", path, err)
	}
	delete(c.settings, policyKey)
	c.policies = file.Policy
	return c, nil
}

// setFlags sets flags from the file, unless they are on the command line.
func (c *configuration) setFlags(cmd *cobra.Command) error {
	for _, name := range slices.Sorted(maps.Keys(c.settings)) {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || name == configFlag || name == "help" {
			return c.errorf("there is no setting %q: see %s --help", name, name, cmd.CommandPath())
		}
		value, err := settingText(c.settings[name])
		if err == nil && !flag.Changed {
			err = cmd.Flags().Set(name, value)
		}
		if err != nil {
			return usageError{c.errorf("%s: %w", name, name, err)}
		}
	}
	return nil
}

// configure gives the operators of a program their policies.
func (c *configuration) configure(p *Program) error {
	for _, name := range slices.Sorted(maps.Keys(c.policies)) {
		declared := slices.IndexFunc(p.declared, func(d metacontroller.Controller) bool { return d.Name() == name })
		if declared < 0 {
			return c.errorf("there is no operator %q: write some of %s", policyKey+"."+name, name, strings.Join(namesOf(p.declared), ", "))
		}
		configured, err := p.declared[declared].WithPolicy(c.policies[name])
		if err != nil {
			return c.errorf("%s.%s: %w", policyKey+"."+name+"."+fieldIn(err), policyKey, name, err)
		}
		p.controllers = slices.Clone(p.controllers)
		for i := range p.controllers {
			if p.controllers[i].Name() == name {
				p.controllers[i] = configured
			}
		}
	}
	return nil
}

// errorf returns an error about a part of the file, with its line.
func (c *configuration) errorf(format, path string, values ...any) error {
	return fmt.Errorf("--config: %s, line %d: "+format, append([]any{c.path, documents.Lines(c.text)(path)}, values...)...)
}

// unknownField is the error about a field that a policy does not have.
var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// fieldIn returns the path of the field that an error is about, if it says it.
func fieldIn(err error) string {
	if found := unknownField.FindStringSubmatch(err.Error()); found != nil {
		return found[1]
	}
	path, _, _ := strings.Cut(err.Error(), ": ")
	return path
}

// settingText returns a setting as it would be written on the command line.
func settingText(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case float64: // the type of every number in JSON
		return strconv.FormatFloat(value, 'f', -1, 64), nil
	default:
		return "", fmt.Errorf("a single value is wanted")
	}
}

// AddPolicies adds --config to a command that has none of serve's flags: the policies of
// the operators are as the server has them.
func AddPolicies(cmd *cobra.Command, p *Program) {
	path := cmd.Flags().String(configFlag, "", "configuration file of serve, for the policies of the operators in it")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := readConfiguration(*path)
		if err == nil {
			err = c.configure(p)
		}
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
}

func newConfigCommand(p *Program) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:     "config",
		GroupID: runGroup,
		Short:   "Print the configuration in force",
		Long: `Config prints what serve would run with: its flags, and the policies of the
operators. What stands on the command line wins over the file of --config, and that over
the defaults; behind each setting that is no default stands where it comes from. The output
can be the file of --config itself.`,
		Example: `  operetta config > config.yaml
  operetta config --config config.yaml --log-level debug`,
		Args: Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.printConfiguration(cmd, &flags) },
	}
	flags.add(cmd, p)
	return cmd
}

// numberOrBool is a setting that YAML reads as it is written.
var numberOrBool = regexp.MustCompile(`^(-?[0-9]+|true|false)$`)

// yamlScalar quotes a value that YAML would read as something else.
func yamlScalar(value string) string {
	var read any
	if err := yaml.Unmarshal([]byte(value), &read); err == nil && read == any(value) || numberOrBool.MatchString(value) {
		return value
	}
	return strconv.Quote(value)
}

func (p *Program) printConfiguration(cmd *cobra.Command, flags *serveFlags) error {
	typed := map[string]bool{}
	cmd.Flags().Visit(func(flag *pflag.Flag) { typed[flag.Name] = true })
	c, _, err := flags.read(cmd, p)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		value := flag.Value.String()
		if list, isList := flag.Value.(pflag.SliceValue); isList {
			value = strings.Join(list.GetSlice(), ",")
		}
		if flag.Name == configFlag || flag.Name == "help" || value == "" {
			return
		}
		value = yamlScalar(value)
		_, inFile := c.settings[flag.Name]
		switch {
		case typed[flag.Name]:
			value += " # command line"
		case inFile:
			value += " # " + c.path
		}
		fmt.Fprintf(&out, "%s: %s\n", flag.Name, value)
	})
	policies := map[string]any{}
	for _, controller := range p.controllers {
		if value := controller.Policy.Value(); value != nil {
			policies[controller.Name()] = value
		}
	}
	if len(policies) > 0 {
		text, err := yaml.Marshal(map[string]any{policyKey: policies})
		if err != nil {
			return fmt.Errorf("printing the policies: %w", err)
		}
		out.Write(text)
	}
	_, err = p.Out.Write(out.Bytes())
	return err
}
