import { type ConfigMap, type KubeObject, ingressOf, keyOf } from '../../../kube/objects.ts'
import type { Definition } from '../../../kube/definitions.ts'
import { isInRanges } from '../../../lib/ip-address.ts'
import { quote, counted } from '../../../lib/text.ts'
import { type HeldAddress, type SoftwareFinding, type SoftwareFindings, defineSoftwareCheck } from '../../check.ts'
import type { LoadBalancer } from '../../setting.ts'
import { editCommand } from '../../shared/programs.ts'
import { logCommand } from './programs.ts'
import { announcingPool, otherPoolChoice } from '../pools.ts'
import { type DocumentPool, readMetallbDocument } from '../read-document.ts'
import { isPeer } from '../resources.ts'
import { shell } from '../../../lib/remedy.ts'

export const announcedAddresses = defineSoftwareCheck({
  id: 'announced-addresses',
  checks:
    'Every held address is in a pool of MetalLB for BGP, an advertisement selects that pool, and there are peers. A pending Service chooses no other pool. In a ConfigMap every pool is advertised.',
  good: 'MetalLB is configured to announce every held address',
  needs: ['metallb', 'document', 'held', 'definitions'],
  judge({ metallb, document, held, definitions }, { loadBalancer }) {
    if (held.length === 0) return []
    if (readsObjects(definitions, loadBalancer)) {
      const peerless = metallb.some(isPeer) ? [] : [noPeers('no BGPPeer', held.length)]
      return [...peerless, ...held.flatMap((one) => notInPool(one, metallb))]
    }
    // Another check reports a missing document.
    if (!document) return []
    const { pools, peers, problems } = readMetallbDocument(document)
    if (problems.length > 0) return []
    const peerless = peers > 0 ? [] : [noPeers(`no peers in ConfigMap ${keyOf(document)}`, held.length)]
    return [...peerless, ...held.flatMap((one) => notInDocument(one, pools, document))]
  },
})

/** Whether MetalLB reads objects, as opposed to a ConfigMap. */
export function readsObjects(definitions: readonly Definition[], { kind }: LoadBalancer): boolean {
  return kind === 'metallb' ? definitions.length > 0 : kind === 'metallb-crd'
}

function noPeers(what: string, count: number): SoftwareFinding {
  return {
    level: 'error',
    what: `MetalLB has ${what}, and ${counted(count, 'addresses')} to announce`,
    why: 'no router learns an address',
    fix: shell`kubectl get events -A --field-selector=reason=PeeringFailed   # why no node has peers`,
  }
}

function notInDocument(
  { service, address, text }: HeldAddress,
  pools: readonly DocumentPool[],
  document: ConfigMap,
): SoftwareFindings {
  const pool = pools.find(({ addresses }) => isInRanges(address, addresses))
  if (pool?.protocol === 'bgp') return []
  const { namespace, name } = document.metadata
  const where = pool ? `is in pool ${JSON.stringify(pool.name)} for ${pool.protocol}` : 'is in no pool for BGP'
  return {
    level: 'error',
    what: `address ${text} of Service ${keyOf(service)} ${where} of ConfigMap ${keyOf(document)}`,
    why: 'MetalLB does not announce it to the routers, so the Service cannot be reached',
    fix: pool
      ? shell`${editCommand(document)}   # take the address out of that pool; \`serve\` writes another one`
      : shell`kubectl get configmap -n ${namespace} ${name} -o yaml   # \`serve\` writes its pool; its log says what was refused`,
  }
}

function notInPool({ service, address, text }: HeldAddress, metallb: readonly KubeObject[]): SoftwareFindings {
  const pool = announcingPool(metallb, address)
  const what = `address ${text} of Service ${keyOf(service)}`
  const why = 'MetalLB does not announce it, so the Service cannot be reached'
  const fix = shell`kubectl get ipaddresspools,bgpadvertisements -A   # \`serve\` writes them; its log says what was refused`
  if (!pool) return { level: 'error', what: `${what} is in no IPAddressPool`, why, fix }
  const choice =
    ingressOf(service).length > 0 ? undefined : otherPoolChoice(service.metadata.annotations ?? {}, pool.name)
  if (choice !== undefined) {
    const { namespace, name, annotations = {} } = service.metadata
    return {
      level: 'error',
      what: `${what} is in IPAddressPool ${pool.name}, and annotation ${choice}: ${quote(annotations[choice] ?? '')} chooses another`,
      why: 'MetalLB refuses it, so the Service stays pending',
      fix: shell`kubectl annotate service -n ${namespace} ${name} ${choice}-`,
    }
  }
  if (pool.isAdvertised) return []
  return { level: 'error', what: `${what}: no BGPAdvertisement selects its pool ${pool.name}`, why, fix }
}

/** The kind in which MetalLB, from 0.15 on, reports what its speakers announce. */
const announcementKind = 'servicebgpstatuses.metallb.io'

export const speakers = defineSoftwareCheck({
  id: 'speakers',
  checks: 'A MetalLB speaker announces every held address to a peer, if MetalLB reports that (0.15 and later).',
  good: 'MetalLB reports no held address that it does not announce',
  needs: ['announcements', 'definitions', 'held'],
  judge({ announcements, definitions, held }, { loadBalancer }) {
    const unreported: SoftwareFinding = {
      level: 'manual',
      what: 'this version of MetalLB does not report what its speakers announce',
      why: 'MetalLB 0.15 and later report it',
      fix: logCommand('speaker', loadBalancer),
    }
    if (!definitions.some(({ metadata }) => metadata.name === announcementKind))
      return held.length > 0 ? unreported : []
    const announced = announcements.filter(({ status }) => status?.peers?.length)
    const keys = new Set(announced.map(({ status }) => `${status?.serviceNamespace}/${status?.serviceName}`))
    return held
      .filter(({ service }) => !keys.has(keyOf(service)))
      .map(({ service, text }) => ({
        level: 'warning',
        what: `no speaker of MetalLB announces ${text} of Service ${keyOf(service)}`,
        why: 'it has no ready endpoint, or no node may announce it: the Service cannot be reached',
        fix: shell`kubectl get endpointslices -n ${service.metadata.namespace} -l kubernetes.io/service-name=${service.metadata.name}   # a ready endpoint is needed; if there is one, the log of the speakers says why`,
      }))
  },
})
