package dataservice

import (
	"maps"
	"slices"
)

// component is a row of the table: a part of the product with its defaults.
type component struct {
	// key is its name in the spec, and the value of a label of its children.
	key string
	// from returns its settings in the spec, or nil.
	from func(*Spec) *settings
	// name is that of its workload and its Service, and begins those of its
	// ConfigMaps.
	name string
	port int32
	kind WorkloadKind
	// image is empty where the spec must name one.
	image string
	// needs are the components that must be in the spec, possibly as third
	// parties.
	needs []string
	// after are the components that it waits for, if they are in the spec.
	// Teardown is the reverse.
	after []string
	// uses are the components whose credentials it gets as environment
	// variables.
	uses []string
	// database is the MySQL database of its own, if it has one.
	database string
	// routes are the components to which it forwards requests.
	routes []string
	// configs are its ConfigMaps.
	configs []config
	// env are environment variables of its own.
	env map[string]string
	// secretEnv are environment variables from its own credentials: their names
	// by the keys of the Secret.
	secretEnv map[string]string
	// user is the MySQL user of the other components. If it is empty, they use
	// the one in the Secret, if there is one.
	user string
	// dataPath is where its storage is mounted.
	dataPath string
	// isSingle is set if two must never run, not even during an update.
	isSingle bool
	// isMiddleware counts it for the condition MiddlewareReady.
	isMiddleware bool
}

// config is a ConfigMap of a component.
type config struct {
	suffix string // of its name
	// path is where it is mounted: a folder or, with file, that file of it alone.
	path, file string
	// isOnce is set for files that are read at the first start only: changing
	// them restarts nothing.
	isOnce bool
	files  func(file) map[string]string
}

// DatabaseUser is the MySQL user to whom the init scripts grant the databases.
const DatabaseUser = "dataservice"

// configDir is where a component finds its configuration, unless it needs
// another place.
const configDir = "/etc/dataservice"

// business are the services behind the gateways.
var business = []string{"api-manager", "auth", "ds-adapter", "es-adapter", "trd-adapter", "proxy"}

// table returns the components in the order in which they are reported. Each
// comes after those that it waits for.
func (p Policy) table() []component {
	trdAdapter := springService("trd-adapter", 9088, func(s *Spec) *settings { return s.TRDAdapter.settings() }).withDatabase("trd_adapter")
	return []component{
		mysql(p.MySQLImage), uuc(), eureka(),
		springService("api-manager", 9085, func(s *Spec) *settings { return s.APIManager.settings() }).withDatabase("api_manager"),
		springService("auth", 9081, func(s *Spec) *settings { return s.Auth.settings() }).withDatabase("auth").using("uuc"),
		springService("ds-adapter", 9086, func(s *Spec) *settings { return s.DSAdapter.settings() }).withDatabase("ds_adapter"),
		springService("es-adapter", 9087, func(s *Spec) *settings { return s.ESAdapter.settings() }).withDatabase("es_adapter"),
		trdAdapter.withConfig(config{suffix: "-py", path: configDir + "-py", files: settingsPy}, "DATASERVICE_SETTINGS", configDir+"-py/settings.py"),
		springService("proxy", 9094, func(s *Spec) *settings { return s.Proxy.settings() }),
		springService("gateway-master", 9184, func(s *Spec) *settings { return s.GatewayMaster.settings() }).
			routingTo("ds-adapter", "es-adapter", "trd-adapter", "proxy"),
		springService("gateway-web", 9084, func(s *Spec) *settings { return s.GatewayWeb.settings() }).routingTo(business...),
		web(),
	}
}

func mysql(image string) component {
	return component{
		key: "mysql", from: func(s *Spec) *settings { return s.MySQL.settings() },
		name: "mysql-dataservice", port: 3306, kind: StatefulSet, image: image, isSingle: true, isMiddleware: true,
		dataPath: "/var/lib/mysql",
		user:     DatabaseUser,
		env:      map[string]string{"MYSQL_USER": DatabaseUser},
		secretEnv: map[string]string{
			"root-password": "MYSQL_ROOT_PASSWORD", "password": "MYSQL_PASSWORD",
		},
		configs: []config{
			{path: "/etc/mysql/conf.d", files: myCnf},
			{suffix: "-init", path: "/docker-entrypoint-initdb.d", isOnce: true, files: initSQL},
		},
	}
}

func uuc() component {
	return component{
		key: "uuc", from: func(s *Spec) *settings { return s.UUC.settings() },
		name: "uuc", port: 8080, kind: Deployment, isMiddleware: true, dataPath: "/data",
		secretEnv: map[string]string{"username": "UUC_USERNAME", "password": "UUC_PASSWORD", "token": "UUC_TOKEN"},
	}
}

func eureka() component {
	return component{
		key: "eureka", from: func(s *Spec) *settings { return s.Eureka.settings() },
		name: "eureka", port: 8761, kind: Deployment, after: []string{"mysql", "uuc"},
	}
}

func web() component {
	return component{
		key: "web", from: func(s *Spec) *settings { return s.Web.settings() },
		name: "web", port: 80, kind: Deployment,
		needs: []string{"gateway-web"}, after: []string{"gateway-master", "gateway-web"}, routes: []string{"gateway-web"},
		configs: []config{
			{path: "/etc/nginx/nginx.conf", file: "nginx.conf", files: nginxConf},
			{suffix: "-template", path: "/etc/nginx/templates", files: nginxTemplate},
		},
	}
}

// springService returns a business service: it is found by eureka and reads
// application.yml.
func springService(key string, port int32, from func(*Spec) *settings) component {
	return component{
		key: key, from: from, name: key, port: port, kind: Deployment,
		needs: []string{"eureka"}, after: []string{"mysql", "uuc", "eureka"}, uses: []string{"eureka"},
		configs: []config{{path: configDir, files: applicationYAML}},
		env:     map[string]string{locationVariable: "file:" + configDir + "/"},
	}
}

// withDatabase returns the component with a MySQL database of its own.
func (c component) withDatabase(name string) component {
	c.database = name
	return c.using("mysql")
}

// using returns the component with the credentials of another one, which it
// requires.
func (c component) using(key string) component {
	c.needs, c.uses = slices.Concat(c.needs, []string{key}), slices.Concat(c.uses, []string{key})
	return c
}

// withConfig returns the component with one more ConfigMap, and a variable that tells
// where it is.
func (c component) withConfig(added config, variable, location string) component {
	c.configs, c.env = slices.Concat(c.configs, []config{added}), maps.Clone(c.env)
	c.env[variable] = location
	return c
}

// routingTo returns the component as a gateway: it waits for those that it routes to.
func (c component) routingTo(keys ...string) component {
	c.routes, c.after = keys, slices.Concat(c.after, keys)
	return c
}
