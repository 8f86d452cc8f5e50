package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/documents"
)

// readConfig sets flags from a file, unless they are on the command line.
func readConfig(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	text, err := documents.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	content, err := documents.ToJSON(text)
	if err != nil {
		return fmt.Errorf("--config: %s %w", path, err)
	}
	var settings map[string]any
	if err := json.Unmarshal(content, &settings); err != nil {
		return fmt.Errorf("--config: %s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || name == "config" || name == "help" {
			return fmt.Errorf("--config: %s: there is no setting %q: see %s --help", path, name, cmd.CommandPath())
		}
		value, err := settingText(settings[name])
		if err == nil && !flag.Changed {
			err = cmd.Flags().Set(name, value)
		}
		if err != nil {
			return usagef("--config: %s: %s: %w", path, name, err)
		}
	}
	return nil
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
