package dataservice

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// configMap is a ConfigMap of a component, with where it is mounted.
type configMap struct {
	*corev1.ConfigMap
	config

	volume string
}

// configMaps returns the ConfigMaps of a component. A user's file replaces the
// generated one of its name, or goes to the first ConfigMap that is mounted as
// a folder. A component without any gets one for them.
func (p *product) configMaps(u *unit) ([]configMap, error) {
	configs := u.wantedConfigs()
	made := make([]configMap, len(configs))
	home := map[string]int{}
	folder := -1
	for i, config := range configs {
		data := map[string]string{}
		if config.files != nil {
			files, err := config.files(p, u)
			if err != nil {
				return nil, fmt.Errorf("the configuration of %s: %w", u.key, err)
			}
			data = files
		}
		for _, file := range slices.Sorted(maps.Keys(data)) {
			home[file] = i
		}
		if folder < 0 && config.file == "" {
			folder = i
		}
		made[i] = configMap{
			ConfigMap: &corev1.ConfigMap{
				TypeMeta: typeMeta(metacontroller.ConfigMap), ObjectMeta: p.meta(u, u.name+config.suffix), Data: data,
			},
			config: config, volume: "config" + config.suffix,
		}
	}
	for _, file := range slices.Sorted(maps.Keys(u.said.config)) {
		i, isGenerated := home[file]
		if !isGenerated {
			i = folder
		}
		made[i].Data[file] = string(u.said.config[file])
	}
	return made, nil
}

//go:embed files
var templates embed.FS

// asText returns the name of a component as a text in YAML: a few are a truth value or null
// there without quotation marks. Others are written without, as before: another text
// restarts the Pods that have it.
func asText(name string) string {
	switch name {
	case "y", "yes", "true", "on", "n", "no", "false", "off", "null":
		return `"` + name + `"`
	default:
		return name
	}
}

// render executes a template. The delimiters are << and >>, because the formats
// use braces.
func render(name string, p *product, u *unit) (string, error) {
	parsed, err := template.New(name).Delims("<<", ">>").Option("missingkey=error").Funcs(template.FuncMap{"asText": asText}).ParseFS(templates, "files/"+name)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if err := parsed.Execute(&text, file{p, u}); err != nil {
		return "", err
	}
	return text.String(), nil
}

// file is the data of a template.
type file struct {
	product *product
	unit    *unit
}

// Name is that of the component's objects.
func (f file) Name() string { return f.unit.name }

// Port is the main port.
func (f file) Port() int32 { return f.unit.port }

// Database is the name of the component's database, or empty.
func (f file) Database() string { return f.unit.database }

// Has reports whether a component is in the spec.
func (f file) Has(key string) bool { return f.product.unit(key) != nil }

// Address is host:port of a component, in the cluster or as a third party.
func (f file) Address(key string) string {
	u := f.product.unit(key)
	if u.runsHere() {
		return u.name + ":" + strconv.Itoa(int(u.port))
	}
	_, address, _ := strings.Cut(u.said.thirdParty.URL, "://")
	if !strings.Contains(address, ":") {
		address += ":" + strconv.Itoa(int(u.port))
	}
	return address
}

// Host and PortOf are the two parts of Address.
func (f file) Host(key string) string {
	host, _, _ := strings.Cut(f.Address(key), ":")
	return host
}

// PortOf is the second part of Address.
func (f file) PortOf(key string) string {
	_, port, _ := strings.Cut(f.Address(key), ":")
	return port
}

// URL is the address of an HTTP component. Its user and password, if any, are
// references to environment variables, which Spring resolves.
func (f file) URL(key string) string {
	u := f.product.unit(key)
	if u.runsHere() {
		return "http://" + f.Address(key)
	}
	return strings.TrimSuffix(u.said.thirdParty.URL, "/")
}

// URLWithUser is URL with its credentials, if it asks for basic ones, as a
// reference to what [escapeScript] writes.
func (f file) URLWithUser(key string) string {
	u := f.product.unit(key)
	url := f.URL(key)
	if u.runsHere() || u.said.thirdParty.AuthType != AuthBasic {
		return url
	}
	scheme, rest, _ := strings.Cut(url, "://")
	return scheme + "://${eureka-user}@" + rest
}

// URLInPython is a Python expression of URL with its credentials, if it asks for
// basic ones.
func (f file) URLInPython(key string) string {
	u := f.product.unit(key)
	url := f.URL(key)
	if u.runsHere() || u.said.thirdParty.AuthType != AuthBasic {
		return strconv.Quote(url)
	}
	scheme, rest, _ := strings.Cut(url, "://")
	return fmt.Sprintf(`"%s://%%s:%%s@%s" %% (escaped("%s"), escaped("%s"))`, scheme, rest, u.variable(usernameKey), u.variable(passwordKey))
}

// Auth is how a component authenticates its clients.
func (f file) Auth(key string) AuthType {
	u := f.product.unit(key)
	if u.runsHere() || u.said.thirdParty.AuthType == "" {
		return AuthNone
	}
	return u.said.thirdParty.AuthType
}

// RunsHere reports whether a component runs in the cluster.
func (f file) RunsHere(key string) bool { return f.product.unit(key).runsHere() }

// Uses reports whether the component gets the credentials of another.
func (f file) Uses(key string) bool { return slices.Contains(f.unit.uses, key) }

// Routes are the components to which it forwards requests, as far as they are
// in the spec.
func (f file) Routes() []string {
	return slices.DeleteFunc(slices.Clone(f.unit.routes), func(key string) bool { return !f.Has(key) })
}

// oneFile returns the files of a ConfigMap with one file.
func oneFile(name, from string, p *product, u *unit) (map[string]string, error) {
	text, err := render(from, p, u)
	return map[string]string{name: text}, err
}

func applicationYAML(p *product, u *unit) (map[string]string, error) {
	return oneFile("application.yml", "application.yml.tmpl", p, u)
}

func settingsPy(p *product, u *unit) (map[string]string, error) {
	return oneFile("settings.py", "settings.py.tmpl", p, u)
}

func myCnf(p *product, u *unit) (map[string]string, error) {
	return oneFile("my.cnf", "my.cnf.tmpl", p, u)
}

func nginxConf(p *product, u *unit) (map[string]string, error) {
	return oneFile("nginx.conf", "nginx.conf.tmpl", p, u)
}

func nginxTemplate(p *product, u *unit) (map[string]string, error) {
	return oneFile("default.conf.template", "default.conf.template.tmpl", p, u)
}

// initSQL returns the scripts that MySQL runs once, in the order of their names:
// a database and a grant for each component that has one, and the table of
// schema versions.
func initSQL(p *product, _ *unit) (map[string]string, error) {
	files := map[string]string{}
	for _, row := range p.table {
		if row.database == "" {
			continue
		}
		files[fmt.Sprintf("%d-%s.sql", len(files)+1, row.key)] = fmt.Sprintf(
			"CREATE DATABASE IF NOT EXISTS `%s` CHARACTER SET utf8mb4;\nGRANT ALL PRIVILEGES ON `%s`.* TO '%s'@'%%';\n",
			row.database, row.database, DatabaseUser)
	}
	schema, err := templates.ReadFile("files/schema-version.sql")
	files[fmt.Sprintf("%d-schema-version.sql", len(files)+1)] = string(schema)
	return files, err
}
