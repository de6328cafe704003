import { isDnsLabel, isDnsName } from '../../lib/names.ts'
import { boolean } from '../../settings/formats.ts'
import type { Reading } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'
import type { LoadBalancer, LoadBalancerDialect, LoadBalancerScheme, Parts, PeerMode } from '../setting.ts'

/** The value of the load balancer setting that chooses MetalLB. */
export const metallbScheme: LoadBalancerScheme = {
  written: 'metallb:///[namespace[/configmap]][?crdConfiguration=true|false][&bgp-peer-mode=native|frr|none]',
  meaning:
    'MetalLB. The name of a ConfigMap or `crdConfiguration=false` configures it by that ConfigMap, ' +
    '`crdConfiguration=true` by custom resources. With neither, eip-admission uses what the cluster has. ' +
    '`bgp-peer-mode` chooses the form of the BGPPeers.',
  parameters: ['crdConfiguration', 'bgp-peer-mode'],
  depth: 2,
  read: readMetallb,
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

/** The form that a URL without `crdConfiguration` implies: ConfigMap or custom resources. */
function implied(
  path: string[],
  mode: string | undefined,
  dialect: LoadBalancerDialect,
): 'crd' | 'configmap' | 'undecided' {
  // Later versions of a predecessor ignore the name. Only custom resources have a mode, so a name beside a mode may be
  // a leftover.
  if (path.length === 2) return mode === undefined ? 'configmap' : 'undecided'
  return path.length === 1 ? dialect.namespaceAlone : 'undecided'
}

/** The MetalLB ConfigMap that the process may write; without a namespace, in every namespace. */
export function metallbConfigMapOf(loadBalancer: LoadBalancer | undefined, given?: string) {
  const own = loadBalancer && isMetallb(loadBalancer) ? loadBalancer : undefined
  const name = own && 'name' in own ? own.name : 'config'
  return { namespace: own?.namespace, name: given ?? name }
}

/** Only MetalLB's own kinds: other software has a namespace too. */
function isMetallb(loadBalancer: LoadBalancer): loadBalancer is Extract<LoadBalancer, { kind: `metallb${string}` }> {
  return loadBalancer.kind.startsWith('metallb')
}
