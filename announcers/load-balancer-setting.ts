import { isDnsLabel, isDnsName, isQualifiedName } from '../lib/names.ts'
import { closestWord } from '../lib/closest-word.ts'
import { anyCase, boolean } from '../settings/formats.ts'
import type { Format, Reading } from '../settings/setting.ts'
import { oneOf } from '../settings/words.ts'

export type PeerMode = 'native' | 'frr' | 'none'

/** Which software announces the addresses of Services, and how we configure it. */
export type LoadBalancer =
  | { kind: 'none' }
  | { kind: 'metallb-configmap'; namespace: string; name: string }
  | { kind: 'metallb-crd'; namespace: string; peerMode: PeerMode }
  /** The setting chooses neither ConfigMap nor custom resources: we use the one that the cluster has. */
  | { kind: 'metallb'; namespace: string; name: string; peerMode: PeerMode }
  | { kind: 'kube-vip' }
  | { kind: 'empty'; ipAnnotation: string | undefined }
  | ManagedLoadBalancer

/** Managed load balancers of the cloud, in the metro in which new ones are created. */
export type ManagedLoadBalancer = { kind: 'emlb'; metro: string }

/** How the load balancer setting differs between dialects. */
export type LoadBalancerDialect = {
  /** What `metallb:///<namespace>/` means when no name follows. */
  namespaceAlone: 'crd' | 'undecided'
  /** The schemes of the cloud's managed load balancers. */
  managed?: Readonly<Record<string, LoadBalancerScheme>>
  /** The annotation into which `empty://` writes the address of a Service when the URL names none. */
  ipAnnotation?: string
}

/** The path and the parameters of a load balancer setting. */
export type Parts = { path: string[]; parameters: Record<string, string | undefined> }

/** A scheme of the load balancer setting: how it is written, what it means, and how its URL is read. */
export type LoadBalancerScheme = {
  written: string
  meaning: string
  parameters: readonly string[]
  depth: number
  read: (parts: Parts, dialect: LoadBalancerDialect) => Reading<LoadBalancer>
}

const schemes: Record<string, LoadBalancerScheme> = {
  metallb: {
    written: 'metallb:///[namespace[/configmap]][?crdConfiguration=true|false][&bgp-peer-mode=native|frr|none]',
    meaning:
      'MetalLB. The name of a ConfigMap or `crdConfiguration=false` configures it by that ConfigMap, ' +
      '`crdConfiguration=true` by custom resources. With neither, eip-admission uses what the cluster has. ' +
      '`bgp-peer-mode` chooses the form of the BGPPeers.',
    parameters: ['crdConfiguration', 'bgp-peer-mode'],
    depth: 2,
    read: readMetallb,
  },
  'kube-vip': {
    written: 'kube-vip://',
    meaning:
      'kube-vip. It reads the address from the Service and its BGP peers from the node. kube-vip 1.0.0 to 1.1.2 cannot read these peers.',
    parameters: [],
    depth: 0,
    read: () => ({ value: { kind: 'kube-vip' } }),
  },
  empty: {
    written: 'empty://[?ip-annotation=name]',
    meaning:
      'Other software, or none. eip-admission writes the address and the status of the Service, and BGP peers on nodes.',
    parameters: ['ip-annotation'],
    depth: 0,
    read: readEmpty,
  },
}

/** Every value of the load balancer setting that every cloud has, with its form and its meaning. */
export const loadBalancerValues: readonly { written: string; meaning: string }[] = [
  { written: 'none', meaning: 'No load balancing: no addresses, no BGP, no announcing software.' },
  ...Object.values(schemes),
]

/** The format of the load balancer setting in a dialect. */
export function loadBalancer(dialect: LoadBalancerDialect): Format<LoadBalancer> {
  const known = Object.entries({ ...schemes, ...dialect.managed })
  const right = `one of ${['none', ...known.map(([, scheme]) => scheme.written)].join(', ')}`
  return {
    placeholder: 'url',
    pattern: `^(${anyCase('none')}|(${known.map(([name]) => anyCase(name)).join('|')})://.*)$`,
    read: (given) => {
      if (given.toLowerCase() === 'none') return { value: { kind: 'none' } }
      const url = URL.parse(given)
      const [, scheme] = known.find(([name]) => url?.protocol === `${name}:`) ?? []
      if (!url || !scheme) return { right: `${right}${meant(given, known)}` }
      const parts = partsOf(url, scheme)
      const reading = 'right' in parts ? parts : scheme.read(parts.value, dialect)
      return 'right' in reading ? { right: `a URL with ${reading.right}; ${right}` } : reading
    },
  }
}

/** A scheme that is written almost as the given one, for the message. */
function meant(given: string, known: [name: string, scheme: LoadBalancerScheme][]): string {
  const [, scheme = given] = /^([^:/]*):/.exec(given) ?? []
  const near = closestWord(scheme, ['none', ...known.map(([name]) => name)], (word) => Math.min(3, word.length / 2))
  return near === undefined || near === scheme ? '' : `; did you mean ${near}?`
}

/** The path and the parameters of a URL; a URL with a host or an unknown parameter is refused. */
function partsOf(url: URL, { parameters, depth }: LoadBalancerScheme): Reading<Parts> {
  // `metallb://metallb-system` has a host and no path: without this check we would silently use the default namespace.
  if (url.host !== '' || !url.href.includes('://')) return { right: 'three slashes, because it has no host' }
  const unknown = [...url.searchParams.keys()].find((key) => !parameters.includes(key))
  if (unknown !== undefined) {
    const known = parameters.length === 0 ? 'no parameters' : `no parameters but ${oneOf(parameters)}`
    return { right: `${known} (this one has ${JSON.stringify(unknown)})` }
  }
  const path = url.pathname.split('/').filter((part) => part !== '')
  if (path.length > depth) return { right: depth === 0 ? 'no path' : `a path of at most ${depth} parts` }
  return { value: { path, parameters: Object.fromEntries(url.searchParams) } }
}

const peerModes: readonly PeerMode[] = ['native', 'frr', 'none']

function readMetallb({ path, parameters }: Parts, dialect: LoadBalancerDialect): Reading<LoadBalancer> {
  const [namespace = 'metallb-system', name = 'config'] = path
  if (!isDnsLabel(namespace)) return { right: 'the name of a namespace after the slashes' }
  if (!isDnsName(name)) return { right: 'the name of a ConfigMap after the namespace' }
  const { crdConfiguration, 'bgp-peer-mode': mode } = parameters
  const peerMode = mode === undefined ? 'native' : peerModes.find((known) => known === mode)
  if (peerMode === undefined) return { right: `bgp-peer-mode=${oneOf(peerModes)}` }
  const chosen = crdConfiguration === undefined ? implied(path, mode, dialect) : crdChoice(crdConfiguration)
  if (chosen === undefined) return { right: 'crdConfiguration=true or false' }
  if (chosen === 'crd') return { value: { kind: 'metallb-crd', namespace, peerMode } }
  if (chosen === 'undecided') return { value: { kind: 'metallb', namespace, name, peerMode } }
  if (mode !== undefined) return { right: 'no bgp-peer-mode, because a ConfigMap has no BGPPeers' }
  return { value: { kind: 'metallb-configmap', namespace, name } }
}

/** The predecessors read the parameter as Go reads a boolean: `True` and `1` mean true. */
function crdChoice(text: string): 'crd' | 'configmap' | undefined {
  const reading = boolean.read(text)
  if ('right' in reading) return undefined
  return reading.value ? 'crd' : 'configmap'
}

/** What a URL without `crdConfiguration` implies about ConfigMap or custom resources. */
function implied(
  path: string[],
  mode: string | undefined,
  dialect: LoadBalancerDialect,
): 'crd' | 'configmap' | 'undecided' {
  // Later versions of Cherry's program ignore the name. Only custom resources have a mode, so a name beside it may be a leftover.
  if (path.length === 2) return mode === undefined ? 'configmap' : 'undecided'
  return path.length === 1 ? dialect.namespaceAlone : 'undecided'
}

function readEmpty({ parameters }: Parts, dialect: LoadBalancerDialect): Reading<LoadBalancer> {
  const ipAnnotation = parameters['ip-annotation'] ?? dialect.ipAnnotation
  if (ipAnnotation !== undefined && !isQualifiedName(ipAnnotation)) return { right: 'ip-annotation=example.com/name' }
  return { value: { kind: 'empty', ipAnnotation } }
}

/** The ConfigMap of MetalLB that the process may write; without a namespace, in each one. */
export function metallbConfigMapOf({
  loadBalancer: software,
  metallbConfigMap,
}: {
  loadBalancer: LoadBalancer | undefined
  metallbConfigMap: string | undefined
}) {
  const namespace = software && 'namespace' in software ? software.namespace : undefined
  const name = software && 'name' in software ? software.name : 'config'
  return { namespace, name: metallbConfigMap ?? name }
}
