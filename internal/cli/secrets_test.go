package cli

import (
	"fmt"
	"strings"
)

// secretKind is one form in which people write a credential down.
type secretKind struct {
	// name is that of the variable, the key or the flag.
	name string
	// text is what is written there, and hidden the part of it that must not be seen.
	text, hidden string
}

// secretKinds returns a secret of each form that a string may have, as a rule for what is recorded
// may look at it, but for one capitalised word, as in reason. No two have a hidden part in common, so that what is found tells the form.
func secretKinds() []secretKind {
	var all []secretKind
	for i, form := range strings.Split(forms, "\n") {
		name, form, _ := strings.Cut(form, " ")
		secret := fmt.Sprintf("p4sSw%crd%02d", 'a'+i%26, i)
		text := strings.ReplaceAll(strings.ReplaceAll(form, "@@@", secret), `\n`, "\n")
		all = append(all, secretKind{name, text, secret})
	}
	for name, text := range map[string]string{
		"NUMBER": "7391840265", "PIN": "84713", "WORD": "opensesamewaffles", "UUID": "01234567-89ab-cdef-0123-4567deadbeef",
		"HEX": strings.Repeat("c0ffee42", 8), "BASE64": "3q2+7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs=", "AWS": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "SEED": "JBSWY3DPEHPK3PXP",
	} {
		all = append(all, secretKind{name, text, text})
	}
	return all
}

// forms are a name and a text in each line, with a secret at @@@.
const forms = `PASSWORD @@@
apiKey sk_live_@@@
TOKEN eyJhbGciOiJIUzI1NiJ9.@@@.c2lnbmF0dXJl
GITHUB ghp_@@@
BOOTSTRAP abcdef.@@@
USER_PW correct-horse-@@@
PHRASE legal winner thank @@@ wave sausage
DSN_PART $(USER):@@@@$(HOST)
DSN user:@@@@tcp(db:3306)/shop
URL mysql://root:@@@@db:3306/shop
URL https://@@@@git.invalid/repo.git
URL https://user:x@git.invalid:@@@/repo.git
URL https://api.invalid/hook/@@@
URL https://api.invalid/v1?api_key=@@@
URL postgres://@@@/x
PATH_ /run/@@@
GIT git@@@@.invalid:shop/@@@.git
IMAGE registry.invalid/x:@@@@sha256:short
JDBC jdbc:mysql://db/x?user=a&password=@@@
AZURE AccountName=x;AccountKey=@@@;EndpointSuffix=core.windows.net
flag -uroot -p@@@
flag --password=@@@
flag curl -u deploy:@@@ https://registry.invalid/v2/
script set -e\nexport VAULT=@@@\nrun\n
Authorization Basic @@@
X-Api-Key X-Api-Key: @@@
Cookie session=@@@; theme=dark
tls.key -----BEGIN RSA PRIVATE KEY-----\n@@@\n-----END RSA PRIVATE KEY-----\n
htpasswd admin:$apr1$@@@$hash08
netrc machine git.invalid login ci password @@@
.dockerconfigjson {"auths":{"r.invalid":{"auth":"@@@"}}}
my.cnf [client]\nuser=root\npassword=@@@\n
application.yml spring:\n  password: @@@\n
conf.json {"name":"@@@","type":"@@@","nested":{"name":"@@@"}}
ENCODED "{\"password\":\"@@@\"}"`
