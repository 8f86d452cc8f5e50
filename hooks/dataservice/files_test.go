package dataservice

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// generated returns the files of all components of a spec, by ConfigMap and
// name, as in auth/application.yml.
func generated(t *testing.T, spec string) map[string]string {
	t.Helper()
	ds := &DataService{}
	ds.Name = "shop"
	require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &ds.Spec))
	p, err := DefaultPolicy().resolve(ds)
	require.NoError(t, err)
	files := map[string]string{}
	for _, u := range p.units {
		if !u.runsHere() {
			continue
		}
		for _, m := range p.configMaps(u) {
			for name, content := range m.Data {
				files[m.Name+"/"+name] = content
			}
		}
	}
	return files
}

// sampleSpec returns the spec of the sample.
func sampleSpec(t *testing.T) string {
	text, err := os.ReadFile("../../deploy/samples/dataservice.yaml")
	require.NoError(t, err)
	var object struct {
		Spec any `json:"spec"`
	}
	require.NoError(t, yaml.Unmarshal(text, &object))
	spec, err := yaml.Marshal(object.Spec)
	require.NoError(t, err)
	return string(spec)
}

const elsewhere = `
mysql: {kind: ThirdParty, thirdParty: {url: "mysql://db.example.com:3307", authType: basic, credentialsSecretRef: {name: db}}}
uuc: {kind: ThirdParty, thirdParty: {url: "https://uuc.example.com/api/", authType: token, credentialsSecretRef: {name: uuc}}}
eureka: {thirdParty: {url: "https://eureka.example.com/eureka", authType: basic, credentialsSecretRef: {name: eureka}}}
auth: {image: auth, name: login, port: 9999}
trd-adapter: {image: trd}
gateway-web: {image: gateway}
`

// application is what the tests read of an application.yml.
type application struct {
	Server struct {
		Port int `json:"port"`
	} `json:"server"`
	Spring struct {
		Application struct {
			Name string `json:"name"`
		} `json:"application"`
		Datasource struct {
			Driver   string `json:"driver-class-name"`
			URL      string `json:"url"`
			Username string `json:"username"`
			Password string `json:"password"`
		} `json:"datasource"`
		Cloud struct {
			Gateway struct {
				Routes []struct {
					ID         string   `json:"id"`
					URI        string   `json:"uri"`
					Predicates []string `json:"predicates"`
					Filters    []string `json:"filters"`
				} `json:"routes"`
			} `json:"gateway"`
		} `json:"cloud"`
	} `json:"spring"`
	Eureka struct {
		Client struct {
			ServiceURL struct {
				DefaultZone string `json:"defaultZone"`
			} `json:"service-url"`
			Token string `json:"token"`
		} `json:"client"`
		Instance struct {
			PreferIPAddress bool `json:"prefer-ip-address"`
		} `json:"instance"`
	} `json:"eureka"`
	UUC struct {
		URL      string `json:"url"`
		AuthType string `json:"auth-type"`
		Username string `json:"username"`
		Password string `json:"password"`
		Token    string `json:"token"`
	} `json:"uuc"`
}

func parsed(t *testing.T, text string) application {
	t.Helper()
	var app application
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &app), text)
	return app
}

func TestApplicationYAMLFollowsTheSpec(t *testing.T) {
	files := generated(t, sampleSpec(t))
	auth := parsed(t, files["auth/application.yml"])
	require.Equal(t, 9081, auth.Server.Port)
	require.Contains(t, auth.Spring.Datasource.URL, "jdbc:mysql://mysql-dataservice:3306/auth?")
	require.Equal(t, "${MYSQL_PASSWORD}", auth.Spring.Datasource.Password)
	require.Equal(t, "http://eureka:8761/eureka/", auth.Eureka.Client.ServiceURL.DefaultZone)
	require.Equal(t, "https://uuc.example.com", auth.UUC.URL)
	require.Equal(t, "${UUC_USERNAME}", auth.UUC.Username)

	master := parsed(t, files["gateway-master/application.yml"])
	var routes []string
	for _, route := range master.Spring.Cloud.Gateway.Routes {
		routes = append(routes, route.ID+" "+route.URI+" "+route.Predicates[0])
	}
	require.Equal(t, []string{
		"ds-adapter http://ds-adapter:9086 Path=/ds-adapter/**", "es-adapter http://es-adapter:9087 Path=/es-adapter/**",
		"trd-adapter http://trd-adapter:9088 Path=/trd-adapter/**", "proxy http://proxy:9094 Path=/proxy/**",
	}, routes)
	require.Empty(t, master.Spring.Datasource.URL)
	for name, text := range files {
		if strings.HasSuffix(name, "application.yml") {
			parsed(t, text)
		}
	}

	files = generated(t, elsewhere)
	auth = parsed(t, files["login/application.yml"])
	require.Equal(t, "login", auth.Spring.Application.Name)
	require.Equal(t, 9999, auth.Server.Port)
	require.Contains(t, auth.Spring.Datasource.URL, "jdbc:mysql://db.example.com:3307/auth?")
	require.Equal(t, "https://${eureka-user}@eureka.example.com/eureka", auth.Eureka.Client.ServiceURL.DefaultZone)
	require.Equal(t, "https://uuc.example.com/api", auth.UUC.URL)
	require.Equal(t, "token", auth.UUC.AuthType)
	require.Equal(t, "${UUC_TOKEN}", auth.UUC.Token)
	gateway := parsed(t, files["gateway-web/application.yml"])
	require.Equal(t, "http://login:9999", gateway.Spring.Cloud.Gateway.Routes[0].URI)
	require.Len(t, gateway.Spring.Cloud.Gateway.Routes, 2, "of six services two are there")
}

// TestNamesAreTexts also where YAML has another meaning for them without quotation marks, and
// no other is written with them, which would restart the Pods of before.
func TestNamesAreTexts(t *testing.T) {
	for _, name := range []string{"y", "yes", "true", "on", "n", "no", "false", "off", "null", "none", "nan", "inf", "e5", "a-1"} {
		files := generated(t, strings.Replace(elsewhere, "name: login", `name: "`+name+`"`, 1))
		text := files[name+"/application.yml"]
		require.Equal(t, name, parsed(t, text).Spring.Application.Name)
		var plain map[string]any
		require.NoError(t, yaml.Unmarshal([]byte("name: "+name), &plain))
		_, isText := plain["name"].(string)
		require.Equal(t, isText, strings.Contains(text, "name: "+name+"\n"), text)
	}
}

// TestMyCnf reads the file as MySQL does: sections of key = value.
func TestMyCnf(t *testing.T) {
	text := generated(t, "mysql: {port: 3310, credentialsSecretRef: {name: db}}")["mysql-dataservice/my.cnf"]
	section, values := "", map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch key, value, isPair := strings.Cut(line, "="); {
		case line == "":
		case strings.HasPrefix(line, "["):
			require.Regexp(t, `^\[[a-z]+\]$`, line)
			section = line
		default:
			require.True(t, isPair, line)
			require.NotEmpty(t, section, line)
			values[section+strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	require.Equal(t, "3310", values["[mysqld]port"])
	require.Equal(t, "3310", values["[client]port"])
	require.Equal(t, "utf8mb4", values["[mysqld]character-set-server"])
	require.Equal(t, "utf8mb4_unicode_ci", values["[mysqld]collation-server"])
}

func TestInitScripts(t *testing.T) {
	files := generated(t, "mysql: {credentialsSecretRef: {name: db}}")
	var names []string
	for name := range files {
		if script, isScript := strings.CutPrefix(name, "mysql-dataservice-init/"); isScript {
			names = append(names, script)
		}
	}
	slices.Sort(names)
	require.Equal(t, []string{
		"1-api-manager.sql", "2-auth.sql", "3-ds-adapter.sql", "4-es-adapter.sql", "5-trd-adapter.sql", "6-schema-version.sql",
	}, names)
	for i, database := range []string{"api_manager", "auth", "ds_adapter", "es_adapter", "trd_adapter", "dataservice"} {
		script := files["mysql-dataservice-init/"+names[i]]
		require.Contains(t, script, "CREATE DATABASE IF NOT EXISTS `"+database+"` ")
		require.Contains(t, script, "GRANT ALL PRIVILEGES ON `"+database+"`.* TO '"+DatabaseUser+"'@'%';")
	}
}

// TestInitScriptsOnAServer runs the scripts on a MariaDB that it starts for
// itself, twice, for they may be run again. It needs mariadbd on the PATH.
func TestInitScriptsOnAServer(t *testing.T) {
	server, err := exec.LookPath("mariadbd")
	if err != nil {
		t.Skip("mariadbd is not on the PATH")
	}
	data := t.TempDir()
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	if output, err := install.CombinedOutput(); err != nil {
		t.Skipf("mariadb-install-db: %s: %s", err, output)
	}
	var script strings.Builder
	script.WriteString("CREATE USER IF NOT EXISTS 'dataservice'@'%' IDENTIFIED BY 'x';\n")
	files := generated(t, "mysql: {credentialsSecretRef: {name: db}}")
	for range 2 {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(name, ".sql") {
				script.WriteString(strings.ReplaceAll(regexp.MustCompile(`(?s)\n\s*`).ReplaceAllString(files[name], " "), "; ", ";\n") + "\n")
			}
		}
	}
	// In bootstrap mode a server reads statements from its input and ends, and
	// knows no users: the grants are left to the server that has them.
	statements := regexp.MustCompile(`(?m)^ ?(GRANT|CREATE USER).*\n`).ReplaceAllString(script.String(), "")
	require.Contains(t, statements, "CREATE TABLE IF NOT EXISTS `dataservice`.`schema_version`")
	bootstrap := exec.Command(server, "--no-defaults", "--user=root", "--bootstrap", "--datadir="+data)
	bootstrap.Stdin = strings.NewReader(statements)
	output, err := bootstrap.CombinedOutput()
	require.NoError(t, err, string(output))
	require.NotContains(t, string(output), "ERROR", statements)
	for _, database := range []string{"api_manager", "auth", "ds_adapter", "es_adapter", "trd_adapter", "dataservice"} {
		require.DirExists(t, filepath.Join(data, database))
	}
}

// TestNginxTakesItsConfiguration lets nginx check both files. It needs nginx on
// the PATH.
func TestNginxTakesItsConfiguration(t *testing.T) {
	files := generated(t, sampleSpec(t))
	require.Contains(t, files["web-template/default.conf.template"], "proxy_pass http://gateway-web:9084/;")
	require.Contains(t, files["web-template/default.conf.template"], "listen 80;")
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not on the PATH")
	}
	dir, main := t.TempDir(), filepath.Join(t.TempDir(), "nginx.conf")
	conf := strings.NewReplacer("/etc/nginx/conf.d", dir, "/tmp/nginx.pid", filepath.Join(dir, "nginx.pid")).Replace(files["web/nginx.conf"])
	// There is no such host here, and no right to such a port.
	site := strings.NewReplacer("http://gateway-web:9084/", "http://127.0.0.1:9084/", "listen 80;", "listen 127.0.0.1:18080;").Replace(files["web-template/default.conf.template"])
	require.NoError(t, os.WriteFile(main, []byte(conf), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.conf"), []byte(site), 0o600))
	output, err := exec.Command(nginx, "-t", "-c", main).CombinedOutput()
	require.NoError(t, err, string(output))
}

// TestPythonReadsItsSettings lets Python run the file. It needs python3 on the
// PATH.
func TestPythonReadsItsSettings(t *testing.T) {
	settings := generated(t, elsewhere)["trd-adapter-py/settings.py"]
	require.Contains(t, settings, `"host": "db.example.com"`)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not on the PATH")
	}
	command := exec.Command(python, "-c", settings+"\nprint(PORT, DATABASE['port'] + 1, DATABASE['password'], EUREKA_URL)")
	command.Env = []string{"MYSQL_USERNAME=me", "MYSQL_PASSWORD=secret", "EUREKA_USERNAME=a@b", "EUREKA_PASSWORD=c/d:ä%"}
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	require.Equal(t, "9088 3308 secret https://a%40b:c%2Fd%3A%C3%A4%25@eureka.example.com/eureka\n", string(output))
}

// TestNoCredentialIsWritten looks for anything that is set to be a password and
// is no reference to the environment.
func TestNoCredentialIsWritten(t *testing.T) {
	secretive := regexp.MustCompile(`(?i)(password|token|username)"?\s*[:=]\s*(\S+)`)
	for _, spec := range []string{sampleSpec(t), elsewhere} {
		for name, text := range generated(t, spec) {
			for _, match := range secretive.FindAllStringSubmatch(text, -1) {
				require.Regexp(t, `^("\$\{[A-Z_]+\}"|os\.environ\["[A-Z_]+"\],)$`, match[2], name)
			}
		}
	}
}
