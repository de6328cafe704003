import { announcingPool } from '../../../announcers/metallb/pools.ts'
import { type ConfigurationState, configurationStates, isPeer } from '../../../announcers/metallb/resources.ts'
import type { Subject } from '../../../announcers/announcer.ts'
import { type ConfigMap, type KubeObject, keyOf, splitKey } from '../../../kube/objects.ts'
import { announcerObjects, announcerProblems } from '../../../inspect/announcer.ts'
import { isInRanges } from '../../../lib/ip-range.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { type Held, heldByServices } from '../../../inspect/held.ts'
import { type DocumentPool, readMetallbDocument } from '../../../inspect/metallb-document.ts'
import { wantOf } from '../../../inspect/wanted.ts'
import { describe, edit } from './pools.ts'

const usesMetallb = ({ vendor: { loadBalancer } }: Context) => loadBalancer.kind.startsWith('metallb')

export const metallbReports = defineCheck({
  id: 'metallb-reports',
  section: 'Announcing',
  checks: 'MetalLB accepts its configuration, where it reports that (from 0.15.3 on).',
  good: 'MetalLB reports no problem with its configuration',
  needs: ['metallb'],
  applies: usesMetallb,
  judge: ({ metallb }) =>
    metallb
      .filter((object): object is ConfigurationState => object.kind === configurationStates.kind)
      .filter(({ status }) => status?.result === 'Invalid')
      .map((state) => ({
        level: 'error',
        what: `ConfigurationState ${keyOf(state)}: ${state.status?.errorSummary ?? 'the configuration is invalid'}`,
        why: 'MetalLB goes on with its last valid configuration, and announces nothing new',
        fix: describe(state),
      })),
})

export const announcerConfiguration = defineCheck({
  id: 'announcer-configuration',
  section: 'Announcing',
  checks:
    'The cluster knows the kinds of the announcing software. Nothing is in the way of what `serve` writes for it, and it reports no problem.',
  good: 'nothing is in the way of the announcing software',
  needs: ['announcer', 'services', 'records', 'nodes', 'peers', 'definitions'],
  applies: (context) => announcerObjects(context) !== undefined,
  judge(facts, context) {
    // MetalLB before 0.13 reads a ConfigMap instead.
    if (usesMetallb(context) && !readsObjects(facts.definitions, context)) return []
    const { unknown } = facts.announcer
    if (unknown.length > 0) return [unknownKinds(unknown, context)]
    return announcerProblems(facts, context).map(({ subject, message, mayPass }) => {
      const what = 'node' in subject ? `node ${subject.node}` : `Service ${subject.service}`
      return { level: mayPass ? 'warning' : 'error', what: `${what}: ${message}`, ...consequence(subject) }
    })
  },
})

function unknownKinds(unknown: readonly string[], context: Context): Finding {
  return {
    level: 'error',
    what: `the cluster knows no ${unknown.join(' and no ')}`,
    why: `${announcerObjects(context)?.from} brings them, so nothing announces the addresses`,
    fix: 'install it, or change the load balancer setting of `serve`',
  }
}

function consequence(subject: Subject): Pick<Finding, 'why' | 'fix'> {
  if ('node' in subject)
    return {
      why: 'no router learns an address of this node by the session',
      fix: `kubectl describe node ${subject.node}`,
    }
  const { namespace, name } = splitKey(subject.service)
  return { why: 'nobody announces its address', fix: `kubectl describe service -n ${namespace} ${name}` }
}

export const announcedAddresses = defineCheck({
  id: 'announced-addresses',
  section: 'Announcing',
  checks:
    'Every held address is in a pool of MetalLB for BGP, an advertisement selects that pool, and there are peers. In a ConfigMap every pool is advertised.',
  good: 'MetalLB is told to announce every held address',
  needs: ['metallb', 'document', 'records', 'services', 'definitions'],
  applies: usesMetallb,
  judge({ metallb, document, records, services, definitions }, context) {
    const held = heldByServices(services, records, context)
    if (held.length === 0) return []
    if (readsObjects(definitions, context)) {
      const peerless = metallb.some(isPeer) ? [] : [noPeers('no BGPPeer', held.length)]
      return [...peerless, ...held.flatMap((one) => notInPool(one, metallb))]
    }
    // That it does not exist is a finding of its own.
    if (!document) return []
    const { pools, peers, problems } = readMetallbDocument(document)
    if (problems.length > 0) return []
    const peerless = peers > 0 ? [] : [noPeers(`no peers in ConfigMap ${keyOf(document)}`, held.length)]
    return [...peerless, ...held.flatMap((one) => notInDocument(one, pools, document))]
  },
})

/** Whether MetalLB reads objects; else it reads a ConfigMap. */
function readsObjects(definitions: Values['definitions'], { vendor: { loadBalancer } }: Context): boolean {
  return loadBalancer.kind === 'metallb' ? definitions.length > 0 : loadBalancer.kind === 'metallb-crd'
}

function noPeers(what: string, count: number): Finding {
  return {
    level: 'error',
    what: `MetalLB has ${what}, and ${count} addresses to announce`,
    why: 'no router learns an address',
    fix: 'kubectl get events -A --field-selector=reason=PeeringFailed   # why no node has peers',
  }
}

function notInDocument(
  { service, address, text }: Held,
  pools: readonly DocumentPool[],
  document: ConfigMap,
): Finding[] {
  const pool = pools.find(({ addresses }) => isInRanges(address, addresses))
  if (pool?.protocol === 'bgp') return []
  const where = pool ? `is in pool ${JSON.stringify(pool.name)} for ${pool.protocol}` : 'is in no pool for BGP'
  return [
    {
      level: 'error',
      what: `address ${text} of Service ${keyOf(service)} ${where} of ConfigMap ${keyOf(document)}`,
      why: 'MetalLB does not announce it to the routers, so nobody reaches the Service',
      fix: `${edit(document.metadata)}   # \`serve\` writes its pool; its log says what was refused`,
    },
  ]
}

function notInPool({ service, address, text }: Held, metallb: readonly KubeObject[]): Finding[] {
  const pool = announcingPool(metallb, address)
  const what = `address ${text} of Service ${keyOf(service)}`
  const why = 'MetalLB does not announce it, so nobody reaches the Service'
  const fix = 'kubectl get ipaddresspools,bgpadvertisements -A   # `serve` writes them; its log says what was refused'
  if (!pool) return [{ level: 'error', what: `${what} is in no IPAddressPool`, why, fix }]
  if (pool.isAdvertised) return []
  return [{ level: 'error', what: `${what}: no BGPAdvertisement selects its pool ${pool.name}`, why, fix }]
}

/** From this version on MetalLB writes down what its speakers announce. */
const announcementKind = 'servicebgpstatuses.metallb.io'

export const speakers = defineCheck({
  id: 'speakers',
  section: 'Announcing',
  checks: 'A speaker of MetalLB announces every held address to a peer, where MetalLB writes that down (from 0.15 on).',
  good: 'the speakers of MetalLB report no held address that none of them announces',
  needs: ['announcements', 'definitions', 'records', 'services'],
  applies: usesMetallb,
  judge({ announcements, definitions, records, services }, context) {
    if (!definitions.some(({ metadata }) => metadata.name === announcementKind)) return []
    const told = announcements.filter(({ status }) => status?.peers?.length)
    const keys = new Set(told.map(({ status }) => `${status?.serviceNamespace}/${status?.serviceName}`))
    return heldByServices(services, records, context)
      .filter(({ service }) => !keys.has(keyOf(service)))
      .map(({ service, text }) => ({
        level: 'warning',
        what: `no speaker of MetalLB announces ${text} of Service ${keyOf(service)}`,
        why: 'it has no ready endpoint, or no node may announce it: nobody reaches the Service',
        fix: `kubectl get endpointslices -n ${service.metadata.namespace} -l kubernetes.io/service-name=${service.metadata.name}`,
      }))
  },
})

export const silentAnnouncer = defineCheck({
  id: 'silent-announcer',
  section: 'Announcing',
  checks: 'The announcing software shows in the status of a Service the address that the Service holds.',
  good: 'the announcing software shows every held address',
  needs: ['services', 'records'],
  applies: ({ vendor }) => !['none', 'managed'].includes(vendor.loadBalancer.kind),
  judge: ({ services, records }, context) =>
    heldByServices(services, records, context).flatMap(({ service, text }): Finding[] => {
      if (!['reserve', 'named'].includes(wantOf(service, context).kind)) return []
      if (service.status?.loadBalancer?.ingress?.length) return []
      const { namespace, name } = service.metadata
      return [
        {
          level: 'warning',
          what: `Service ${namespace}/${name} holds ${text}, but its status shows no address`,
          why: 'the announcing software has not taken it: it does not run, or refuses the address',
          fix: `kubectl describe service -n ${namespace} ${name}   # its Events, and those of the announcing software`,
        },
      ]
    }),
})
