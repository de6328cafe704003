// Calico 3.32.1's CRDs of the kinds that we write, as far as they can refuse or drop one of our fields.

type Schema = { [field: string]: unknown }

const text = (facts: Schema = {}): Schema => ({ type: 'string', ...facts })
const int32: Schema = { type: 'integer', format: 'int32' }
const list = (items: Schema): Schema => ({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' })
const object = (properties: Schema, facts: Schema = {}): Schema => ({ type: 'object', properties, ...facts })
const action = text({ enum: ['Accept', 'Reject'] })
const cidr = text({ format: 'cidr' })

const rule = object(
  {
    action,
    cidr: text({ format: 'cidr', maxLength: 18 }),
    matchOperator: text({ enum: ['Equal', 'NotEqual', 'In', 'NotIn'] }),
    source: text({ enum: ['RemotePeers'] }),
  },
  {
    required: ['action'],
    'x-kubernetes-validations': [
      {
        message: 'cidr and matchOperator must both be set or both be empty',
        rule: '(has(self.cidr) && size(self.cidr) > 0) == (has(self.matchOperator) && size(self.matchOperator) > 0)',
      },
    ],
  },
)

const specs: Record<string, { plural: string; spec: Schema }> = {
  BGPPeer: {
    plural: 'bgppeers',
    spec: object({
      asNumber: int32,
      filters: list(text()),
      localASNumber: int32,
      node: text({ maxLength: 253 }),
      nodeSelector: text({ maxLength: 1024 }),
      password: object({ secretKeyRef: object({ key: text(), name: text({ default: '' }) }, { required: ['key'] }) }),
      peerIP: text({ maxLength: 64 }),
      sourceAddress: text({ enum: ['UseNodeIP', 'None'] }),
    }),
  },
  BGPFilter: { plural: 'bgpfilters', spec: object({ exportV4: list(rule), importV4: list(rule) }) },
  BGPConfiguration: {
    plural: 'bgpconfigurations',
    spec: object({
      asNumber: int32,
      logSeverityScreen: text({ default: 'Info' }),
      serviceLoadBalancerAggregation: text({ default: 'Enabled', enum: ['Enabled', 'Disabled'] }),
      serviceLoadBalancerIPs: list(object({ cidr }, { 'x-kubernetes-map-type': 'atomic' })),
    }),
  },
  IPPool: {
    plural: 'ippools',
    spec: object({
      allowedUses: { type: 'array', items: text({ enum: ['Workload', 'Tunnel', 'LoadBalancer'] }) },
      cidr,
      nodeSelector: text({ default: 'all()' }),
    }),
  },
  KubeControllersConfiguration: {
    plural: 'kubecontrollersconfigurations',
    spec: object({
      controllers: object({
        loadBalancer: object({
          assignIPs: text({ default: 'AllServices', enum: ['AllServices', 'RequestedServicesOnly'] }),
        }),
      }),
    }),
  },
}

/** The CRDs of Calico's kinds. */
export const calicoDefinitions: readonly object[] = Object.entries(specs).map(([kind, { plural, spec }]) => {
  const group = 'projectcalico.org'
  const openAPIV3Schema = object({ spec })
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v3', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
})
