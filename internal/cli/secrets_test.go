package cli

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// secretKind is one way in which people write a credential down.
type secretKind struct {
	kind string
	// name is that of the variable, the key or the flag.
	name string
	// text is what is written there. Each of hidden is a part of it that must not
	// be seen.
	text   string
	hidden []string
}

// secretKinds returns a secret of each kind. No two have a hidden part in common,
// so that what is found tells the kind.
func secretKinds() []secretKind {
	var all []secretKind
	add := func(kind, name, text string, hidden ...string) {
		all = append(all, secretKind{kind, name, text, hidden})
	}
	addVariables(add)
	addAddresses(add)
	addTokens(add)
	addFiles(add)
	addEncodings(add)
	return all
}

type adder func(kind, name, text string, hidden ...string)

func addVariables(add adder) {
	for i, name := range []string{
		"PASS", "DB_PASS", "PASSWORD", "MYSQL_ROOT_PASSWORD", "POSTGRES_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "PASSPHRASE",
		"SSH_KEY", "ENCRYPTION_KEY", "API_KEY", "apiKey", "SIGNING_KEY", "MASTER_KEY", "LICENSE_KEY", "ACCESS_KEY", "SECRET_KEY_BASE",
		"REDIS_AUTH", "AUTH", "HTTP_BASIC_AUTH", "CREDENTIALS", "TOKEN", "SESSION_SALT", "PEPPER", "COOKIE_SEED", "WEBHOOK",
		"MODE", "GREETING", "PIN", "OTP_SEED", "PASSCODE", "UNLOCK", "MAGIC",
	} {
		secret := "hunter" + string(rune('A'+i%26)) + "-swordfish" + hex.EncodeToString([]byte{byte(i)}) + "q"
		add("variable "+name, name, secret, secret)
	}
	add("variable of small letters only", "WORD", "opensesamewaffles", "opensesamewaffles")
	add("variable of digits", "NUMBER", "7391840265", "7391840265")
	add("variable that is a name", "USER_PW", "correct-horse-battery", "correct-horse-battery")
	add("variable as a UUID", "HEROKU", "01234567-89ab-cdef-0123-4567deadbeef", "4567deadbeef")
	add("variable with spaces", "SEED_PHRASE", "legal winner thank year wave sausage worth", "winner thank", "sausage")
	add("variable beside a reference", "DSN_PART", "$(USER):tr0ub4dor@$(HOST)", "tr0ub4dor")
	add("flag -pX", "flag", "mysql -uroot -pSup3rS3cr3t -h db", "Sup3rS3cr3t")
	add("flag curl -u", "flag", "curl -u deploy:c4rb0nara https://registry.invalid/v2/", "c4rb0nara")
	add("flag --password X", "flag", "--password gnocchi99", "gnocchi99")
	add("flag --password=X", "flag", "--password=ravioli77", "ravioli77")
	add("flag -Dkey=X", "flag", "-Djavax.net.ssl.keyStorePassword=lasagne55", "lasagne55")
	add("flag sshpass -p", "flag", "sshpass -p 'tagliatelle44' ssh root@host", "tagliatelle44")
	add("flag redis-cli -a", "flag", "redis-cli -a fettuccine33 ping", "fettuccine33")
	add("flag openssl pass:", "flag", "openssl enc -aes-256-cbc -pass pass:rigatoni22", "rigatoni22")
	add("flag echo | docker login", "flag", "echo farfalle11 | docker login -u ci --password-stdin", "farfalle11")
	add("export in a script", "script", "set -e\nexport VAULT=orecchiette10\nrun\n", "orecchiette10")
	add("header Authorization: Basic", "Authorization", "Basic ZGVwbG95OnBhcHBhcmRlbGxl", "ZGVwbG95OnBhcHBhcmRlbGxl")
	add("header X-Api-Key", "X-Api-Key", "X-Api-Key: cannelloni-08", "cannelloni-08")
	add("header Cookie", "Cookie", "session=s%3Amanicotti09.abc; theme=dark", "manicotti09")
}

func addAddresses(add adder) {
	for i, form := range []string{
		"user:@@@tcp(db:3306)/shop", "mysql://root:@@@db:3306/shop", "postgres://app:@@@pg/x?sslmode=disable", "jdbc:mysql://db/x?user=a&password=@@@",
		"jdbc:oracle:thin:scott/@@@//ora:1521/x", "mongodb+srv://u:@@@cluster.invalid/x", "redis://:@@@redis:6379/0", "amqp://guest:@@@mq//",
		"Server=db;Database=x;User Id=sa;Password=@@@;", "host=pg user=app password=@@@ dbname=x", "sqlserver://sa:@@@mssql:1433", "ldap://cn=admin:@@@ldap",
		"https://user:@@@git.invalid/repo.git", "https://@@@@git.invalid/repo.git", "https://api.invalid/v1?api_key=@@@", "https://api.invalid/hook/@@@",
		"https://hooks.slack.com/services/T00000000/B00000000/@@@", "ftp://anon:@@@files/x", "clickhouse://default:@@@ch:9000", "smtp://mailer:@@@mx:587",
		"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@@;EndpointSuffix=core.windows.net",
		"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@@@",
		"https://x.blob.core.windows.net/c?sv=2022&sig=@@@", "nats://tok-@@@@nats:4222", "s3://AK:@@@bucket/path", "cassandra://c:@@@cass",
	} {
		secret := "p4ssv" + string(rune('a'+i)) + "rde"
		add("address "+form, "URL", strings.Replace(form, "@@@", secret+at(form), 1), secret)
	}
}

// at returns what follows a password in an address.
func at(form string) string {
	_, after, _ := strings.Cut(form, "@@@")
	if strings.Contains(form, ":@@@") && !strings.HasPrefix(after, "@") && !strings.HasPrefix(after, ";") {
		return "@"
	}
	return ""
}

func addTokens(add adder) {
	body := "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	for _, t := range []struct{ kind, token string }{
		{"GitHub ghp_", "ghp_" + body}, {"GitHub fine-grained", "github_pat_11ABCDEFG0" + body}, {"GitHub app", "ghs_z" + body[1:]},
		{"GitLab glpat-", "glpat-" + body[:20]}, {"Slack xoxb", "xoxb-123456789012-1234567890123-" + body[:24]}, {"Slack xapp", "xapp-1-A1-12345-" + body[:16]},
		{"Stripe sk_live", "sk_live_" + body[:24]}, {"Stripe rk_test", "rk_test_" + body[1:25]}, {"npm", "npm_" + body}, {"PyPI", "pypi-AgEIcHlwaS5vcmc" + body},
		{"Docker Hub", "dckr_pat_" + body[:27]}, {"AWS access key", "AKIAIOSFODNN7EXAMPLE"}, {"AWS secret key", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
		{"AWS session token", "FwoGZXIvYXdzEBYaD" + body}, {"Google API key", "AIza" + body[:35]}, {"Google OAuth", "GOCSPX-" + body[:28]},
		{"Azure client secret", "abc8Q~" + body[:34]}, {"SendGrid", "SG." + body[:22] + "." + body}, {"Twilio", "SK0123456789abcdef0123456789abcdee"},
		{"HashiCorp Vault", "hvs.CAESI" + body}, {"DigitalOcean", "dop_v1_" + strings.Repeat("0a1b2c3d", 8)}, {"Hugging Face", "hf_" + body},
		{"OpenAI", "sk-proj-" + body}, {"JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.c2lnbmF0dXJl" + body},
		{"Kubernetes bootstrap", "abcdef.0123456789abcdee"}, {"Telegram", "123456789:AAF" + body[:32]}, {"age", "AGE-SECRET-KEY-1QQQQZZZZ" + strings.ToUpper(body[:20])},
		{"TOTP seed", "JBSWY3DPEHPK3PXPJBSWY3DP"}, {"hexadecimal key", strings.Repeat("c0ffee42", 8)}, {"base64 key", "3q2+7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs="},
	} {
		add("token "+t.kind, "VALUE", t.token, t.token)
	}
}

func addFiles(add adder) {
	pem := func(name, body string) string {
		return "-----BEGIN " + name + "-----\n" + body + "\n-----END " + name + "-----\n"
	}
	for _, f := range []struct{ kind, name, text, hidden string }{
		{"PEM RSA", "tls.key", pem("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEAxx01"), "MIIEpAIBAAKCAQEAxx01"},
		{"PEM EC", "ec.key", pem("EC PRIVATE KEY", "MHcCAQEEIIxx02"), "MHcCAQEEIIxx02"},
		{"PEM encrypted", "enc.key", pem("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqxx03"), "MIIFHDBOBgkqxx03"},
		{"OpenSSH", "id_ed25519", pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktxx04"), "b3BlbnNzaC1rZXktxx04"},
		{"PGP", "secring.asc", pem("PGP PRIVATE KEY BLOCK", "lQOYBFxx05"), "lQOYBFxx05"},
		{"PuTTY", "key.ppk", "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\nAAABAQxx06\nPrivate-MAC: 99xx06", "AAABAQxx06"},
		{"PEM on one line", "KEY", `-----BEGIN PRIVATE KEY-----\nMIIEvQxx07\n-----END PRIVATE KEY-----`, "MIIEvQxx07"},
		{"htpasswd", "htpasswd", "admin:$apr1$xx08salt$hash08", "xx08salt"},
		{"shadow", "shadow", "root:$6$xx09salt$hash09:18000:0:99999:7:::", "xx09salt"},
		{"netrc", "netrc", "machine git.invalid login ci password xx10netrc", "xx10netrc"},
		{"pgpass", "pgpass", "pg:5432:x:app:xx11pgpass", "xx11pgpass"},
		{"dockerconfigjson", ".dockerconfigjson", `{"auths":{"r.invalid":{"auth":"dTp4eDEyZG9ja2Vy"}}}`, "dTp4eDEyZG9ja2Vy"},
		{"DOCKER_AUTH_CONFIG", "DOCKER_AUTH_CONFIG", `{"auths":{"r.invalid":{"username":"u","password":"xx13docker"}}}`, "xx13docker"},
		{"my.cnf", "my.cnf", "[client]\nuser=root\npassword=xx14mycnf\n", "xx14mycnf"},
		{"redis.conf", "redis.conf", "requirepass xx15redis\nmasterauth xx15master\n", "xx15redis"},
		{"nginx basic auth", "nginx.conf", `proxy_set_header Authorization "Basic eHgxNm5naW54"; set $t xx16tok;`, "xx16tok"},
		{"Spring application.yml", "application.yml", "spring:\n  datasource:\n    username: app\n    password: xx17spring\n", "xx17spring"},
		{"Java properties", "app.properties", "jdbc.user=a\njdbc.pass = xx18props\n", "xx18props"},
		{"settings.py", "settings.py", "SECRET_KEY = 'xx19django'\nDATABASES = {}\n", "xx19django"},
		{"dotenv", ".env", "A=1\nDB_PASS=\"xx20dotenv\"\n", "xx20dotenv"},
		{"Google service account", "sa.json", `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nxx21gcp\n"}`, "xx21gcp"},
		{"AWS credentials file", "credentials", "[default]\naws_secret_access_key = xx22aws/abc\n", "xx22aws"},
		{"kubeconfig", "kubeconfig", "users:\n- user:\n    token: xx23kube\n    client-key-data: eHgyM2s=\n", "xx23kube"},
		{"npmrc", ".npmrc", "//registry.invalid/:_authToken=xx24npmrc", "xx24npmrc"},
		{"git-credentials", ".git-credentials", "https://ci:xx25gitcred@git.invalid\n", "xx25gitcred"},
		{"Terraform", "terraform.tfvars", "db_password = \"xx26tf\"\n", "xx26tf"},
		{"SQL", "init.sql", "CREATE USER 'a'@'%' IDENTIFIED BY 'xx27sql';", "xx27sql"},
		{"WireGuard", "wg0.conf", "[Interface]\nPrivateKey = xx28wgAAAA=\n", "xx28wg"},
		{"maven settings.xml", "settings.xml", "<server><password>xx29maven</password></server>", "xx29maven"},
		{"cloud-init", "user-data", "#cloud-config\npassword: xx30cloud\nchpasswd: {expire: false}\n", "xx30cloud"},
		{"JSON text", "conf.json", `{"name":"xx31name","type":"xx31type","nested":{"name":"xx31deep"}}`, "xx31"},
	} {
		add("file "+f.kind, f.name, f.text, f.hidden)
	}
}

func addEncodings(add adder) {
	secret := []byte("carbonara-in-disguise")
	add("one word", "WORD", "swordfishalone", "swordfishalone")
	add("name", "WORD3", "swordfish-as-a-name", "swordfish-as-a-name")
	add("base64", "ENCODED", base64.StdEncoding.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret))
	add("base64 for URLs", "ENCODED_URL", base64.RawURLEncoding.EncodeToString(append(secret, 'u')), base64.RawURLEncoding.EncodeToString(append(secret, 'u'))[:20])
	add("hexadecimal", "ENCODED_HEX", hex.EncodeToString(append(secret, 'h')), hex.EncodeToString(append(secret, 'h')))
	add("capital hexadecimal", "ENCODED_HEX2", strings.ToUpper(hex.EncodeToString(append(secret, 'H'))), strings.ToUpper(hex.EncodeToString(append(secret, 'H'))))
	add("percent encoding", "ENCODED_PERCENT", "p%40ss%2Fpercent", "p%40ss%2Fpercent")
	add("twice JSON", "ENCODED_JSON", `"{\"password\":\"xx40twice\"}"`, "xx40twice")
}
