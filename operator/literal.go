package operator

import "strings"

// Literal escapes a text so that the kubelet passes it on unchanged: in commands, arguments and
// values of variables it reads $$ as $, and $(NAME) as the value of a variable. See
// https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/.
func Literal(text string) string {
	var escaped strings.Builder
	for i := range len(text) {
		if text[i] == '$' && i+1 < len(text) && (text[i+1] == '$' || text[i+1] == '(') {
			escaped.WriteByte('$')
		}
		escaped.WriteByte(text[i])
	}
	return escaped.String()
}
