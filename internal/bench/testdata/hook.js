// A hook for ModelBoxes as one writes it for Node: parse, build both children, print.
// What it answers is less than what Operetta answers: no status but a count, no checks.
const http = require('http');

function children(parent) {
  const { name, namespace, uid } = parent.metadata;
  const spec = parent.spec;
  const labels = { modelbox: name };
  const metadata = { name, namespace, labels: { 'controller-uid': uid } };
  return [{
    apiVersion: 'apps/v1', kind: 'Deployment', metadata,
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: spec.rollingUpdate, maxUnavailable: spec.rollingUpdate } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: spec.name, image: spec.image, ports: spec.ports.map((p) => ({ containerPort: p.targetPort })) }] },
      },
    },
  }, {
    apiVersion: 'v1', kind: 'Service', metadata,
    spec: { type: 'NodePort', selector: labels, ports: spec.ports.map((p) => ({ name: `p${p.port}`, ...p })) },
  }];
}

http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const { parent, children: observed } = JSON.parse(Buffer.concat(parts));
    const deployment = observed['Deployment.apps/v1'][`${parent.metadata.namespace}/${parent.metadata.name}`];
    const body = JSON.stringify({ status: { readyReplicas: deployment.status.readyReplicas }, children: children(parent) });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  });
}).listen(process.argv[2], '127.0.0.1');
