package page

import (
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// page is what the folder of the page's source is built into.
//
//go:embed page/index.html page/play.js page/play.css page/player.js page/player.css
var page embed.FS

func text(name string) string {
	content, err := page.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(content)
}

func asset(name, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sendAt(gzip.DefaultCompression, w, r, contentType, []byte(text(name)))
	}
}

// index is the page. Only what carries the nonce of this answer runs in it.
func (s *server) index(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; "+
		"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nonce, nonce))
	send(w, r, "text/html; charset=utf-8", []byte(strings.ReplaceAll(text("index.html"), "__NONCE__", nonce)))
}

// guard refuses what comes from another page: one whose name resolves to this machine has
// another Host, and the requests of others have another Origin.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		isOwn := origin == "" || origin == "http://"+r.Host
		isAsked := r.URL.Path == "/" || slices.Contains([]string{"", "none", "same-origin"}, site) // a link may lead to the page
		if !slices.Contains(s.Hosts, r.Host) || !isOwn || !isAsked {
			http.Error(w, fmt.Sprintf("only the page at http://%s/ may ask", s.Hosts[0]), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// HTML returns a file that shows a run by itself: it asks nobody for anything.
func HTML(scenario Scenario, run *Run) (string, error) {
	scenario.Files = slices.Clone(scenario.Files)
	for i := range scenario.Files {
		scenario.Files[i].Text = "" // it may have Secrets
	}
	data, err := json.Marshal(map[string]any{"scenario": scenario, "run": run}) // < is escaped in it
	if err != nil {
		return "", err
	}
	script, style := text("player.js"), text("player.css")
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Operetta: what happened</title>
<style>%s</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="run">%s</script>
<script>%s</script>
</body>
</html>
`, hashOf(script), hashOf(style), style, data, script), nil
}

// hashOf returns the source of a text in a content security policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
