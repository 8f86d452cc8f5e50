package dataservice

import (
	_ "embed" // the files that no setting changes
	"fmt"
	"strconv"
	"strings"
)

// The texts are written without text/template: what imports that carries every exported method
// of every type.

func applicationYAML(f file) map[string]string {
	var b strings.Builder
	fmt.Fprintf(&b, `server:
  port: %d
spring:
  application:
    name: %s
`, f.unit.port, asText(f.unit.name))
	if f.unit.database != "" {
		fmt.Fprintf(&b, `  datasource:
    driver-class-name: com.mysql.cj.jdbc.Driver
    url: "jdbc:mysql://%s/%s?%s"
    username: "${MYSQL_USERNAME}"
    password: "${MYSQL_PASSWORD}"
`, f.address("mysql"), f.database(), f.parameters())
	}
	b.WriteString(routesYAML(f))
	b.WriteString(eurekaYAML(f))
	if f.uses("uuc") {
		b.WriteString(uucYAML(f))
	}
	return map[string]string{"application.yml": b.String()}
}

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

// routesYAML is what a gateway forwards, below spring.
func routesYAML(f file) string {
	var b strings.Builder
	for i, key := range f.routes() {
		if i == 0 {
			b.WriteString("  cloud:\n    gateway:\n      routes:\n")
		}
		fmt.Fprintf(&b, `      - id: %[1]s
        uri: "%[2]s"
        predicates:
        - Path=/%[1]s/**
        filters:
        - StripPrefix=1
`, key, f.url(key))
	}
	return b.String()
}

// eurekaYAML is how a component finds the registry.
func eurekaYAML(f file) string {
	zone, token := f.urlWith("${eureka-user}", "eureka"), "" // which escapeScript writes
	if f.runsHere("eureka") {
		zone += "/eureka/"
	}
	if f.auth("eureka") == AuthToken {
		token = "    token: \"${EUREKA_TOKEN}\"\n"
	}
	return fmt.Sprintf(`eureka:
  client:
    service-url:
      defaultZone: "%s"
%s  instance:
    prefer-ip-address: true
`, zone, token)
}

// uucYAML is how a component reaches the user center.
func uucYAML(f file) string {
	credentials := ""
	switch f.auth("uuc") {
	case AuthBasic:
		credentials = "  username: \"${UUC_USERNAME}\"\n  password: \"${UUC_PASSWORD}\"\n"
	case AuthToken:
		credentials = "  token: \"${UUC_TOKEN}\"\n"
	case AuthNone:
	}
	return fmt.Sprintf("uuc:\n  url: \"%s\"\n  auth-type: %s\n%s", f.url("uuc"), f.auth("uuc"), credentials)
}

// escapedInPython defines what url uses of credentials in Python.
const escapedInPython = `from urllib.parse import quote


def escaped(variable):
    """A credential as it can stand in a URL."""
    return quote(os.environ[variable], safe="")
`

func settingsPy(f file) map[string]string {
	imports, url, token := "", f.urlWith("%s:%s", "eureka"), ""
	host, port, _ := strings.Cut(f.address("mysql"), ":")
	if f.runsHere("eureka") {
		url += "/eureka/"
	}
	url = strconv.Quote(url)
	switch f.auth("eureka") {
	case AuthBasic:
		imports = escapedInPython
		url += ` % (escaped("EUREKA_USERNAME"), escaped("EUREKA_PASSWORD"))`
	case AuthToken:
		token = "EUREKA_TOKEN = os.environ[\"EUREKA_TOKEN\"]\n"
	case AuthNone:
	}
	return map[string]string{"settings.py": fmt.Sprintf(`"""Settings of %s. Credentials come from the environment."""

import os
%s
PORT = %d

DATABASE = {
    "host": "%s",
    "port": %s,
    "name": "%s",
    "user": os.environ["MYSQL_USERNAME"],
    "password": os.environ["MYSQL_PASSWORD"],
}

EUREKA_URL = %s
%s`, f.unit.name, imports, f.unit.port, host, port, f.database(), url, token)}
}

func myCnf(f file) map[string]string {
	return map[string]string{"my.cnf": fmt.Sprintf(`[mysqld]
port = %[1]d
character-set-server = utf8mb4
collation-server = utf8mb4_unicode_ci
max_connections = 1000

[client]
port = %[1]d
default-character-set = utf8mb4
`, f.unit.port)}
}

//go:embed files/nginx.conf
var mainNginxConf string

func nginxConf(file) map[string]string { return map[string]string{"nginx.conf": mainNginxConf} }

func nginxTemplate(f file) map[string]string {
	var b strings.Builder
	fmt.Fprintf(&b, `server {
    listen %d;
    server_name _;

    location / {
        root /usr/share/nginx/html;
        try_files $uri $uri/ /index.html;
    }
`, f.unit.port)
	for _, key := range f.routes() {
		fmt.Fprintf(&b, `
    location /api/ {
        proxy_pass %s/;
        proxy_http_version 1.1;
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
    }
`, f.url(key))
	}
	b.WriteString("}\n")
	return map[string]string{"default.conf.template": b.String()}
}

//go:embed files/schema-version.sql
var schemaVersionSQL string

// initSQL returns the scripts that MySQL runs once, in the order of their names:
// a database and a grant for each component that has one, and the table of
// schema versions.
func initSQL(f file) map[string]string {
	files := map[string]string{}
	for _, row := range f.product.table {
		if row.database == "" {
			continue
		}
		files[fmt.Sprintf("%d-%s.sql", len(files)+1, row.key)] = fmt.Sprintf(
			"CREATE DATABASE IF NOT EXISTS `%s` CHARACTER SET utf8mb4;\nGRANT ALL PRIVILEGES ON `%s`.* TO '%s'@'%%';\n",
			row.database, row.database, DatabaseUser)
	}
	files[fmt.Sprintf("%d-schema-version.sql", len(files)+1)] = schemaVersionSQL
	return files
}
