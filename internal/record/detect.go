package record

// tokens matches credentials with a known format in the strings that the
// allow-list would keep: a token may be where a name is expected. The formats
// are those that the issuers document. This is the second line of defense:
// nearly all strings are replaced anyway.
var tokens = []*form{
	newForm(`(?i)gh[pousr]_[a-z0-9]{16,}|github_pat_[a-z0-9_]{20,}`),                                     // GitHub
	newForm(`(?i)gl(pat|dt|rt|cbt|ptt|ft|soat|oas|agent|imt)-[a-z0-9_-]{16,}`),                           // GitLab
	newForm(`(?i)xox[abeprso]-[a-z0-9-]{8,}|xapp-[0-9]-[a-z0-9-]{8,}`),                                   // Slack
	newForm(`(?i)[srp]k_(live|test)_[a-z0-9]{8,}|whsec_[a-z0-9]{16,}`),                                   // Stripe
	newForm(`(?i)npm_[a-z0-9]{30,}|pypi-[a-z0-9_-]{30,}|rubygems_[a-f0-9]{32,}|dckr_pat_[a-z0-9_-]+`),    // registries
	newForm(`(?i)(^|[^a-z0-9])(akia|asia|abia|acca)[a-z2-7]{16}([^a-z0-9]|$)`),                           // AWS
	newForm(`AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]+|GOCSPX-[A-Za-z0-9_-]{20,}`),                     // Google
	newForm(`(?i)hv[sbr]\.[a-z0-9_-]{20,}|dop_v1_[a-f0-9]{32,}|shp(at|ss|ca|pa)_[a-f0-9]{20,}`),          // Vault, DigitalOcean, Shopify
	newForm(`(?i)sk-(ant-|proj-)?[a-z0-9_-]{20,}|hf_[a-z0-9]{20,}|SG\.[a-z0-9_-]{16,}\.[a-z0-9_-]{16,}`), // OpenAI and its like, SendGrid
	newForm(`eyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)*`),                                                   // JSON in base64: web tokens
	newForm(`(?i)AGE-SECRET-KEY-1[a-z0-9]{20,}|(^|[^a-z0-9])[0-9]{8,10}:[a-z0-9_-]{35}`),                 // age, Telegram
}

// longRun matches texts that are long enough to be random.
var longRun = newForm(`[A-Za-z0-9]{16,}`)

// looksSecret reports whether a string probably contains a credential: a token
// of a known format, or a long run of lower-case letters, capitals and digits
// that alternate unlike in a name.
func looksSecret(text string) bool {
	const shortest = 12 // of the formats above; shorter names are skipped to save time
	if len(text) < shortest {
		return false
	}
	for _, form := range tokens {
		if form.MatchString(text) {
			return true
		}
	}
	for _, run := range longRun.FindAllString(text, -1) {
		if changes(run) > len(run)/4 {
			return true
		}
	}
	return false
}

// changes counts the places at which a text switches between lower-case
// letters, capitals and digits. It is 0 unless all three occur.
func changes(text string) int {
	count, kinds, last := 0, 0, -1
	for _, c := range []byte(text) {
		kind := 2
		switch {
		case c >= 'a':
			kind = 0
		case c >= 'A':
			kind = 1
		}
		if kind != last && last >= 0 {
			count++
		}
		kinds |= 1 << kind
		last = kind
	}
	if kinds != 7 {
		return 0
	}
	return count
}
