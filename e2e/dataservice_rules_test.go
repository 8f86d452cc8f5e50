package e2e

import "strings"

// registrySpec begins a spec that has what most services need.
const registrySpec = `{mysql: {credentialsSecretRef: {name: db}}, eureka: {image: a}, `

// dataServiceRules maps a name of its own to each rule.
var dataServiceRules = withNeeds(map[string]rule{
	"name with a dot": {
		message: "metadata.name also is a label of all Pods: write at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit",
		badName: "rule.v2",
		bad:     `{}`,
		good:    `{}`,
	},
	"several databases on as many nodes": {
		message: "as a DaemonSet mysql would be several databases behind one Service: write StatefulSet, Deployment or ThirdParty",
		bad:     `{mysql: {kind: DaemonSet, credentialsSecretRef: {name: db}}}`,
		good:    `{mysql: {kind: Deployment, credentialsSecretRef: {name: db}}}`,
	},
	"several databases": {
		message: "with more than one replica mysql would be several databases behind one Service: write replica 1, or leave it out",
		bad:     `{mysql: {replica: 2, credentialsSecretRef: {name: db}}}`,
		good:    `{mysql: {replica: 1, credentialsSecretRef: {name: db}}}`,
	},
	"database without a password": {
		message: "mysql takes its passwords from a Secret: write credentialsSecretRef with the name of one that has the keys root-password and password",
		bad:     `{mysql: {port: 3306}}`,
		good:    `{mysql: {port: 3306, credentialsSecretRef: {name: db}}}`,
	},
	"database at a web address": {
		message: "write the address of mysql as mysql://host or mysql://host:port, without credentials",
		bad:     `{mysql: {kind: ThirdParty, thirdParty: {url: "https://db.example.com", authType: basic, credentialsSecretRef: {name: db}}}}`,
		good:    `{mysql: {kind: ThirdParty, thirdParty: {url: "mysql://db.example.com:3306", authType: basic, credentialsSecretRef: {name: db}}}}`,
	},
	"database that asks for nothing": {
		message: "mysql asks for a user and a password: write thirdParty.authType basic, and a Secret with the keys username and password",
		bad:     `{mysql: {kind: ThirdParty, thirdParty: {url: "mysql://db.example.com"}}}`,
		good:    `{mysql: {kind: ThirdParty, thirdParty: {url: "mysql://db.example.com", authType: basic, credentialsSecretRef: {name: db}}}}`,
	},
	"user centre without an image": {
		message: "uuc has no image of its own: write image, or kind ThirdParty",
		bad:     `{uuc: {kind: Deployment}}`,
		good:    `{uuc: {kind: Deployment, image: a}}`,
	},
	"user centre at a database address": {
		message: "write the address of uuc as http://host or https://host, without credentials",
		bad:     `{uuc: {kind: ThirdParty, thirdParty: {url: "mysql://uuc.example.com"}}}`,
		good:    `{uuc: {kind: ThirdParty, thirdParty: {url: "http://uuc.example.com/api"}}}`,
	},
	"user centre with storage and no kind": {
		message: "uuc is a Deployment where kind is left out: write kind StatefulSet with storage",
		bad:     `{uuc: {image: a, storage: {size: 1Gi}}}`,
		good:    `{uuc: {image: a, kind: StatefulSet, storage: {size: 1Gi}}}`,
	},
	"elsewhere and nowhere": {
		message: "thirdParty goes with kind ThirdParty: write both, or neither",
		bad:     `{uuc: {image: a, thirdParty: {url: "http://uuc.example.com"}}}`,
		good:    `{uuc: {kind: ThirdParty, thirdParty: {url: "http://uuc.example.com"}}}`,
	},
	"storage of a Deployment": {
		message: "storage goes with kind StatefulSet: write that, or leave storage out",
		bad:     `{mysql: {kind: Deployment, credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		good:    `{mysql: {kind: StatefulSet, credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
	},
	"storage that grows": {
		message: storageMessage,
		before:  `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		bad:     `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 2Gi}}}`,
		good:    `{mysql: {credentialsSecretRef: {name: db}, image: mysql:9, storage: {size: 1Gi, onDelete: Delete}}}`,
	},
	"storage of another class": {
		message: storageMessage,
		before:  `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		bad:     `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 1Gi, storageClassName: fast}}}`,
		good:    `{mysql: {kind: ThirdParty, thirdParty: {url: "mysql://db", authType: basic, credentialsSecretRef: {name: db}}}}`,
	},
	"storage that is taken away": {
		message: storageMessage,
		before:  `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		bad:     `{mysql: {kind: Deployment, credentialsSecretRef: {name: db}}}`,
		good:    `{}`,
	},
	"renamed storage": {
		message: "a component with storage cannot be renamed, for the new one would start empty: leave name as it is",
		before:  `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		bad:     `{mysql: {name: other, credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		good:    `{mysql: {port: 3307, credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
	},
	"storage that comes later": {
		message: "a StatefulSet cannot be given storage later: write another name with it, after moving the data",
		before:  `{mysql: {credentialsSecretRef: {name: db}}}`,
		bad:     `{mysql: {credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
		good:    `{mysql: {name: other, credentialsSecretRef: {name: db}, storage: {size: 1Gi}}}`,
	},
	"credentials without a Secret": {
		message: "authType basic and token take credentials from a Secret: write credentialsSecretRef with the name of one that has username and password, or token",
		bad:     `{uuc: {kind: ThirdParty, thirdParty: {url: "http://uuc", authType: token}}}`,
		good:    `{uuc: {kind: ThirdParty, thirdParty: {url: "http://uuc", authType: token, credentialsSecretRef: {name: uuc}}}}`,
	},
	"address with a password": {
		message: "write scheme://host, perhaps with :port and /path, without credentials: they go into a Secret, which credentialsSecretRef names",
		bad:     `{uuc: {kind: ThirdParty, thirdParty: {url: "http://me:secret@uuc"}}}`,
		good:    `{uuc: {kind: ThirdParty, thirdParty: {url: "http://uuc.example.com:8080/a/b"}}}`,
	},
	"service without an image": {
		message: "a service has no image of its own: write image",
		bad:     registrySpec + `proxy: {port: 80}}`,
		good:    registrySpec + `proxy: {image: a, port: 80}}`,
	},
	"registry here and elsewhere": {
		message: "eureka runs here or elsewhere: write either image or thirdParty",
		bad:     `{eureka: {image: a, thirdParty: {url: "http://eureka"}}}`,
		good:    `{eureka: {thirdParty: {url: "http://eureka"}}}`,
	},
	"registry nowhere": {
		message: "eureka runs here or elsewhere: write either image or thirdParty",
		bad:     `{eureka: {port: 8761}}`,
		good:    `{eureka: {port: 8761, image: a}}`,
	},
	"registry at a database address": {
		message: "write the address of eureka as http://host or https://host with its path, without credentials",
		bad:     `{eureka: {thirdParty: {url: "mysql://eureka"}}}`,
		good:    `{eureka: {thirdParty: {url: "https://eureka/eureka"}}}`,
	},
	"port that stands twice": {
		message: "a port number stands twice: write each once",
		bad:     `{eureka: {image: a, ports: [{name: a, port: 1}, {name: b, port: 1}]}}`,
		good:    `{eureka: {image: a, ports: [{name: a, port: 1}, {name: b, port: 2}]}}`,
	},
	"further port with the main one's name": {
		message: "the port main is the one that port tells: choose another name",
		bad:     `{eureka: {image: a, ports: [{name: main, port: 1}]}}`,
		good:    `{eureka: {image: a, ports: [{name: main-2, port: 1}]}}`,
	},
	"port in capitals": {
		message: "the name of a port has at most 15 lower-case letters, digits and hyphens, with a letter among them",
		bad:     `{eureka: {image: a, ports: [{name: Admin, port: 1}]}}`,
		good:    `{eureka: {image: a, ports: [{name: admin, port: 1}]}}`,
	},
	"component in capitals": {
		message: "the name also names a Service: write at most 50 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit",
		bad:     `{eureka: {image: a, name: Eureka}}`,
		good:    `{eureka: {image: a, name: eureka-2}}`,
	},
	"variable with an equals sign": {
		message: "the name of an environment variable is not empty and has no =",
		bad:     `{eureka: {image: a, env: {a=b: c}}}`,
		good:    `{eureka: {image: a, env: {a.b: c}}}`,
	},
	"file in a folder": {
		message: "the name of a file has letters, digits, hyphens, underscores and dots, and does not begin with two dots",
		bad:     `{eureka: {image: a, config: {a/b: c}}}`,
		good:    `{eureka: {image: a, config: {a_b.yml: c}}}`,
	},
})

const storageMessage = "the storage of a StatefulSet cannot be changed or taken away, for the new one would start empty: leave size and storageClassName as they are, and enlarge the PersistentVolumeClaim itself"

// withNeeds adds a rule for each component that cannot be without another.
func withNeeds(rules map[string]rule) map[string]rule {
	parts := map[string]string{
		"mysql": `mysql: {credentialsSecretRef: {name: db}}`, "eureka": `eureka: {image: a}`, "uuc": `uuc: {image: a}`, "gateway-web": `gateway-web: {image: a}`,
	}
	hints := map[string]string{
		"mysql": "write mysql, with kind ThirdParty if it runs elsewhere", "uuc": "write uuc, with kind ThirdParty if it runs elsewhere",
		"eureka": "write eureka, with thirdParty if it runs elsewhere",
	}
	for component, needs := range map[string][]string{
		"api-manager": {"mysql", "eureka"}, "auth": {"mysql", "eureka", "uuc"}, "ds-adapter": {"mysql", "eureka"}, "es-adapter": {"mysql", "eureka"},
		"trd-adapter": {"mysql", "eureka"}, "proxy": {"eureka"}, "gateway-master": {"eureka"}, "gateway-web": {"eureka"},
	} {
		for _, needed := range needs {
			all := []string{component + ": {image: a}"}
			for _, other := range needs {
				if other != needed {
					all = append(all, parts[other])
				}
			}
			rules[component+" without "+needed] = rule{
				message: component + " needs " + needed + ": " + hints[needed],
				bad:     "{" + strings.Join(all, ", ") + "}",
				good:    "{" + strings.Join(append(all, parts[needed]), ", ") + "}",
			}
		}
	}
	rules["web without gateway-web"] = rule{
		message: "web needs gateway-web, to which it sends what it is asked: write gateway-web",
		bad:     `{web: {image: a}}`,
		good:    `{web: {image: a}, eureka: {image: a}, gateway-web: {image: a}}`,
	}
	return rules
}
