package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/operetta-dev/operetta/internal/server"
)

// addCredentials adds the flags that say how hooks are served and who may call them.
func addCredentials(cmd *cobra.Command, files *server.CredentialFiles) {
	set := cmd.Flags()
	set.StringVar(&files.Certificate, "tls-cert-file", "", "certificate to serve hooks with over TLS 1.2 or later, in PEM, with those that have signed it behind it; read again when it changes, as are the files below")
	set.StringVar(&files.PrivateKey, "tls-private-key-file", "", "private key of --tls-cert-file, in PEM")
	set.StringVar(&files.ClientCA, "client-ca-file", "", "certificates of those who sign the certificates of callers, in PEM; whoever has none of them is answered with 403")
	set.StringSliceVar(&files.ClientNames, "client-names", nil, "names, separated by commas, of which one has to stand in a caller's certificate, as its common name or a name that it is for (default any that --client-ca-file has signed)")
	set.StringVar(&files.Tokens, "token-file", "", "file with a bearer token on each line, any of which a caller may send; whoever sends none of them is answered with 401")
}

// loadCredentials reads the files of credentials. What is wrong with them is a wrong
// use, for there is nothing to serve without them.
func loadCredentials(files server.CredentialFiles, log *slog.Logger) (*server.Credentials, error) {
	klog.SetSlogLogger(slog.New(warnings{log.Handler()})) // where the code that follows the files reports
	credentials, err := server.LoadCredentials(files, log)
	if err != nil {
		return nil, usageError{err}
	}
	if files.Tokens != "" && files.Certificate == "" {
		log.Warn("tokens are sent in plain text, which whoever is on the way can read: write --tls-cert-file, unless something else encrypts")
	}
	return credentials, nil
}

// warnings is a log without what is less than a warning: what Kubernetes' code tells
// besides is of use to its authors.
type warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (w warnings) WithAttrs(attributes []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attributes)}
}

// WithGroup implements [slog.Handler].
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
