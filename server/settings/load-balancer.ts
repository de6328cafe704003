import { isDnsLabel, isDnsName, isQualifiedName } from '../../lib/names.ts'
import type { Format, Reading } from './setting.ts'
import { oneOf } from './words.ts'

export type PeerMode = 'native' | 'frr' | 'none'

/** Who announces the addresses of Services, and how it is told. */
export type LoadBalancer =
  | { kind: 'none' }
  | { kind: 'metallb-configmap'; namespace: string; name: string }
  | { kind: 'metallb-crd'; namespace: string; peerMode: PeerMode }
  /** Nobody chose between ConfigMap and CRDs: the cluster shows which it has. */
  | { kind: 'metallb'; namespace: string; name: string; peerMode: PeerMode }
  | { kind: 'kube-vip' }
  | { kind: 'empty'; ipAnnotation: string | undefined }
  /** Without a metro, the one of the metro setting or of the Service. */
  | { kind: 'emlb'; metro: string | undefined }

/** Where dialects differ. */
export type LoadBalancerDialect = {
  /** What `metallb:///<namespace>/` says when no name follows. */
  namespaceAlone: 'crd' | 'undecided'
  hasEmlb: boolean
  /** The annotation of a Service in which `empty://` says its address without being told of one. */
  ipAnnotation?: string
}

type Parts = { path: string[]; parameters: Record<string, string | undefined> }

type Scheme = {
  written: string
  meaning: string
  parameters: readonly string[]
  depth: number
  read: (parts: Parts, dialect: LoadBalancerDialect) => Reading<LoadBalancer>
}

const schemes: Record<string, Scheme> = {
  metallb: {
    written: 'metallb:///[namespace[/configmap]][?crdConfiguration=true|false][&bgp-peer-mode=native|frr|none]',
    meaning:
      'MetalLB: through a ConfigMap where its name or `crdConfiguration=false` says so, through custom resources with ' +
      '`crdConfiguration=true`, else through whichever of the two the cluster has. `bgp-peer-mode` says how BGPPeers ' +
      'are written.',
    parameters: ['crdConfiguration', 'bgp-peer-mode'],
    depth: 2,
    read: readMetallb,
  },
  'kube-vip': {
    written: 'kube-vip://',
    meaning: "kube-vip: the Service's address and annotations on nodes, which 1.0.0 to 1.1.2 cannot read.",
    parameters: [],
    depth: 0,
    read: () => ({ value: { kind: 'kube-vip' } }),
  },
  empty: {
    written: 'empty://[?ip-annotation=name]',
    meaning: 'Nobody: addresses and annotations on nodes only.',
    parameters: ['ip-annotation'],
    depth: 0,
    read: readEmpty,
  },
  emlb: {
    written: 'emlb:///[metro]',
    meaning: "Equinix Metal's managed load balancers, without Elastic IPs.",
    parameters: [],
    depth: 1,
    read: readEmlb,
  },
}

/** Every value of the setting, how it is written and what it means. */
export const loadBalancerValues: readonly { written: string; meaning: string }[] = [
  { written: 'none', meaning: 'Load balancing is off: no addresses, no BGP, no announcer.' },
  ...Object.values(schemes),
]

/** The format of the load balancer setting in a dialect. */
export function loadBalancer(dialect: LoadBalancerDialect): Format<LoadBalancer> {
  const known = Object.entries(schemes).filter(([name]) => name !== 'emlb' || dialect.hasEmlb)
  const right = `one of ${['none', ...known.map(([, scheme]) => scheme.written)].join(', ')}`
  return {
    placeholder: 'url',
    read: (given) => {
      if (given.toLowerCase() === 'none') return { value: { kind: 'none' } }
      const url = URL.parse(given)
      const [, scheme] = known.find(([name]) => url?.protocol === `${name}:`) ?? []
      if (!url || !scheme) return { right }
      const parts = partsOf(url, scheme)
      const reading = 'right' in parts ? parts : scheme.read(parts.value, dialect)
      return 'right' in reading ? { right: `a URL with ${reading.right}; ${right}` } : reading
    },
  }
}

/** The path and parameters of a URL, as far as its scheme knows them. */
function partsOf(url: URL, { parameters, depth }: Scheme): Reading<Parts> {
  // The host of `metallb://metallb-system` would be dropped without a word, and the default namespace used instead.
  if (url.host !== '' || !url.href.includes('://')) return { right: 'three slashes, as no part of it is a host' }
  const stranger = [...url.searchParams.keys()].find((key) => !parameters.includes(key))
  if (stranger !== undefined) {
    const known = parameters.length === 0 ? 'no parameters' : `no parameters but ${oneOf(parameters)}`
    return { right: `${known} (here is ${JSON.stringify(stranger)})` }
  }
  const path = url.pathname.split('/').filter((part) => part !== '')
  if (path.length > depth) return { right: depth === 0 ? 'no path' : `a path of at most ${depth} parts` }
  return { value: { path, parameters: Object.fromEntries(url.searchParams) } }
}

const peerModes: readonly PeerMode[] = ['native', 'frr', 'none']
const crdChoices: Record<string, 'crd' | 'configmap'> = { true: 'crd', false: 'configmap' }

function readMetallb({ path, parameters }: Parts, dialect: LoadBalancerDialect): Reading<LoadBalancer> {
  const [namespace = 'metallb-system', name = 'config'] = path
  if (!isDnsLabel(namespace)) return { right: 'the name of a namespace after the slashes' }
  if (!isDnsName(name)) return { right: 'the name of a ConfigMap after the namespace' }
  const { crdConfiguration, 'bgp-peer-mode': mode } = parameters
  const peerMode = mode === undefined ? 'native' : peerModes.find((known) => known === mode)
  if (peerMode === undefined) return { right: `bgp-peer-mode=${oneOf(peerModes)}` }
  const chosen = crdConfiguration === undefined ? implied(path, mode, dialect) : crdChoices[crdConfiguration]
  if (chosen === undefined) return { right: 'crdConfiguration=true or false' }
  if (chosen === 'crd') return { value: { kind: 'metallb-crd', namespace, peerMode } }
  if (chosen === 'undecided') return { value: { kind: 'metallb', namespace, name, peerMode } }
  if (mode !== undefined) return { right: 'no bgp-peer-mode, as a ConfigMap has no BGPPeers' }
  return { value: { kind: 'metallb-configmap', namespace, name } }
}

/** What a URL says about ConfigMap or CRDs when it does not say so outright. */
function implied(
  path: string[],
  mode: string | undefined,
  dialect: LoadBalancerDialect,
): 'crd' | 'configmap' | 'undecided' {
  // The later Cherry program drops the name, so a name beside the mode, which only CRDs have, may be a leftover.
  if (path.length === 2) return mode === undefined ? 'configmap' : 'undecided'
  return path.length === 1 ? dialect.namespaceAlone : 'undecided'
}

function readEmpty({ parameters }: Parts, dialect: LoadBalancerDialect): Reading<LoadBalancer> {
  const ipAnnotation = parameters['ip-annotation'] ?? dialect.ipAnnotation
  if (ipAnnotation !== undefined && !isQualifiedName(ipAnnotation)) return { right: 'ip-annotation=example.com/name' }
  return { value: { kind: 'empty', ipAnnotation } }
}

function readEmlb({ path: [metro] }: Parts): Reading<LoadBalancer> {
  if (metro !== undefined && !isDnsLabel(metro)) return { right: 'the code of a metro, such as da' }
  return { value: { kind: 'emlb', metro } }
}
