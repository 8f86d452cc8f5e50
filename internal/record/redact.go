package record

import (
	"encoding/json"
	"regexp"
	"strings"
)

// What takes the place of a value that is not to be seen. The second is the
// first in base64, as the data of a Secret is.
const (
	redacted       = "REDACTED"
	redactedBase64 = "UkVEQUNURUQ="
)

// secretive matches names of values that are credentials.
var secretive = regexp.MustCompile(`(?i)(passw(or)?d|passphrase|pwd|token|secret|credential|api[-_.]?key|access[-_.]?key|private[-_.]?key|authorization)`)

// isName matches the names of fields that only name a Secret, or say how to come
// by one.
var isName = regexp.MustCompile(`^(secretName|secretNamespace|tokenPath|secretRef|credentialsSecretRef|tokenExpirationSeconds|serviceAccountToken|automountServiceAccountToken|imagePullSecrets|imagePullCredentialsVerificationPolicy)$`)

// inText are forms of credentials within a text, each with what takes their
// place.
var inText = []struct {
	form  *regexp.Regexp
	place string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), redacted},
	{regexp.MustCompile(`(?i)\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,}`), "$1 " + redacted},
	{regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s:@$"']*:[^/\s@"']+@`), "$1" + redacted + "@"},
	// password=..., --token ..., "secret": "...": but not references to a
	// variable, which are no secret.
	{regexp.MustCompile(`(?i)([A-Za-z0-9_.-]*(?:passw(?:or)?d|passphrase|token|secret|credential|api[-_.]?key|access[-_.]?key|private[-_.]?key)[A-Za-z0-9_-]*["']?\s*[:=]\s*["']?)([^\s"'$,;&{}\[\]()][^\s"',;&]*)`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)(--?[a-z-]*(?:password|passwd|token|secret|api-key)\s+)([^\s"'$-][^\s"']*)`), "${1}" + redacted},
}

// redact removes what must not be recorded from a value, in place where it is an
// object or a list, and returns it.
func redact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		redactObject(value)
	case []any:
		for i := range value {
			value[i] = redact(value[i])
		}
		redactFlags(value)
	case string:
		return redactText(value)
	}
	return value
}

func redactObject(object map[string]any) {
	if object["kind"] == "Secret" {
		redactAll(object["data"], redactedBase64)
		redactAll(object["stringData"], redacted)
	}
	name, _ := object["name"].(string)
	for key, value := range object {
		text, isText := value.(string)
		switch {
		case isText && text == "":
		case isText && key == "value" && secretive.MatchString(name): // an environment variable
			object[key] = redactValue(text)
		case isText && secretive.MatchString(key) && !isName.MatchString(key):
			object[key] = redactValue(text)
		default:
			object[key] = redact(value)
		}
	}
}

// redactValue hides a value, unless it refers to a variable.
func redactValue(text string) string {
	if strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "${") || text == redactedBase64 {
		return text
	}
	return redacted
}

func redactAll(values any, place string) {
	object, _ := values.(map[string]any)
	for key := range object {
		object[key] = place
	}
}

// redactFlags hides the argument after one that says what it is.
func redactFlags(list []any) {
	for i := 1; i < len(list); i++ {
		flag, isText := list[i-1].(string)
		text, isAlsoText := list[i].(string)
		if isText && isAlsoText && strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && secretive.MatchString(flag) && !strings.HasPrefix(text, "-") {
			list[i] = redactValue(text)
		}
	}
}

// redactText hides what looks like a credential within a text. A text that is
// itself JSON, such as what was last applied, is read as such.
func redactText(text string) string {
	if strings.HasPrefix(text, "{") {
		var object map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&object) == nil && !decoder.More() {
			redactObject(object)
			if encoded, err := json.Marshal(object); err == nil {
				return string(encoded)
			}
		}
	}
	for _, f := range inText {
		text = f.form.ReplaceAllString(text, f.place)
	}
	return text
}
