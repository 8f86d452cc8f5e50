package cli

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/server"
)

// addCredentials adds the flags that say how hooks are served and who may call them.
func addCredentials(cmd *cobra.Command, files *server.CredentialFiles) {
	set := cmd.Flags()
	set.StringVar(&files.Certificate, "tls-cert-file", "", "certificate to serve hooks with over TLS 1.2 or later, in PEM, with those that have signed it behind it; read again when it changes, as are the files below")
	set.StringVar(&files.PrivateKey, "tls-private-key-file", "", "private key of --tls-cert-file, in PEM")
	set.StringVar(&files.ClientCA, "client-ca-file", "", "certificates of those who sign the certificates of callers, in PEM; nobody else can connect")
	set.StringSliceVar(&files.ClientNames, "client-names", nil, "names, separated by commas, of which one has to stand in a caller's certificate, as its common name, a DNS name or a URI; a caller without is answered with 403 (default any that --client-ca-file has signed)")
	set.StringVar(&files.Tokens, "token-file", "", "file with a bearer token on each line, any of which a caller may send; whoever sends none of them is answered with 401")
}

// loadCredentials reads the files of credentials. What is wrong with them is a wrong
// use, for there is nothing to serve without them.
func loadCredentials(files server.CredentialFiles, log *slog.Logger) (*server.Credentials, error) {
	credentials, err := server.LoadCredentials(files, log)
	if err != nil {
		return nil, usageError{err}
	}
	if files.Tokens != "" && files.Certificate == "" {
		log.Warn("tokens are sent in plain text, which whoever is on the way can read: write --tls-cert-file, unless something else encrypts")
	}
	return credentials, nil
}
