import { isForPool } from '../../../announcers/metallb/foreign-advertisements.ts'
import {
  type ConfigurationState,
  type IPAddressPool,
  configurationStates,
  isAdvertisement,
  isPeer,
  isPool,
} from '../../../announcers/metallb/resources.ts'
import { type KubeObject, type Service, keyOf } from '../../../kube/objects.ts'
import { type IpAddress, parseIpAddress } from '../../../lib/ip-address.ts'
import { isInRanges } from '../../../lib/ip-range.ts'
import { type ElasticIP, heldAddress } from '../../../ledger/record/elastic-ip.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context } from '../facts.ts'
import { isOf, isOverdue, wantOf } from '../wanted.ts'

const describe = (object: KubeObject) =>
  `kubectl describe ${object.kind.toLowerCase()} -n ${object.metadata.namespace} ${object.metadata.name}`

const readsObjects = ({ vendor: { loadBalancer } }: Context) => loadBalancer.kind.startsWith('metallb')

export const overlappingPools = defineCheck({
  id: 'overlapping-pools',
  section: 'Announcing',
  checks: 'No two pools of MetalLB share addresses.',
  good: 'no two pools of MetalLB share addresses',
  needs: ['metallb'],
  applies: readsObjects,
  judge({ metallb }) {
    const pools = metallb.filter(isPool)
    return pools.flatMap((one, n) =>
      pools.slice(n + 1).flatMap((other): Finding[] => {
        const shared = sharedRanges(one, other)
        if (shared === undefined) return []
        return [
          {
            level: 'error',
            what: `IPAddressPools ${keyOf(one)} and ${keyOf(other)} share addresses: ${shared}`,
            why: 'MetalLB refuses its whole configuration, and announces nothing new',
            fix: `${describe(other)}   # remove the range from the one that a person wrote`,
          },
        ]
      }),
    )
  },
})

function sharedRanges(one: IPAddressPool, other: IPAddressPool): string | undefined {
  for (const first of one.spec.addresses)
    for (const second of other.spec.addresses) {
      // Either range has a known address in the other, if they share any.
      const isShared =
        addressesOf(first).some((address) => isInRanges(address, [second])) ||
        addressesOf(second).some((address) => isInRanges(address, [first]))
      if (isShared) return `${first} and ${second}`
    }
  return undefined
}

/** Both ends of `a-b`, or the address of a network. */
function addressesOf(range: string): IpAddress[] {
  const texts = range.includes('-') ? range.split('-') : [range.split('/')[0] ?? '']
  return texts.flatMap((text) => parseIpAddress(text.trim()) ?? [])
}

export const metallbReports = defineCheck({
  id: 'metallb-reports',
  section: 'Announcing',
  checks: 'MetalLB accepts its configuration, where it reports that (from 0.15.3 on).',
  good: 'MetalLB reports no problem with its configuration',
  needs: ['metallb'],
  applies: readsObjects,
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

export const announcedAddresses = defineCheck({
  id: 'announced-addresses',
  section: 'Announcing',
  checks: 'Every held address is in a pool of MetalLB that an advertisement selects, and there is a BGPPeer.',
  good: 'MetalLB is told to announce every held address',
  needs: ['metallb', 'records', 'services', 'definitions'],
  applies: readsObjects,
  judge({ metallb, records, services, definitions }, context) {
    // Without definitions MetalLB reads a ConfigMap, which holds passwords: we do not look into it.
    if (definitions.length === 0) return []
    const held = heldByServices(services, records, context)
    if (held.length === 0) return []
    const peerless: Finding[] = metallb.some(isPeer) ? [] : [noPeers(held.length)]
    return [...peerless, ...held.flatMap((one) => notInPool(one, metallb))]
  },
})

type Held = { service: Service; address: IpAddress; text: string }

/** Addresses that Services hold for so long that they should be announced. */
function heldByServices(services: readonly Service[], records: readonly ElasticIP[], context: Context): Held[] {
  return services.flatMap((service) => {
    if (!isOverdue(service.metadata, context)) return []
    const record = records.find((one) => isOf(one, service))
    const text = record && heldAddress(record)
    const address = parseIpAddress(text ?? '')
    return address && text !== undefined ? [{ service, address, text }] : []
  })
}

function noPeers(count: number): Finding {
  return {
    level: 'error',
    what: `MetalLB has no BGPPeer, and ${count} addresses to announce`,
    why: 'no router learns an address',
    fix: 'kubectl get events -A --field-selector=reason=PeeringFailed   # why no node has peers',
  }
}

function notInPool({ service, address, text }: Held, metallb: readonly KubeObject[]): Finding[] {
  const pool = metallb.filter(isPool).find(({ spec }) => isInRanges(address, spec.addresses))
  const what = `address ${text} of Service ${keyOf(service)}`
  const why = 'MetalLB does not announce it, so nobody reaches the Service'
  const fix = 'kubectl get ipaddresspools,bgpadvertisements -A   # `serve` writes them; its log says what was refused'
  if (!pool) return [{ level: 'error', what: `${what} is in no IPAddressPool`, why, fix }]
  const { name, labels = {} } = pool.metadata
  const facts = { name, labels, family: address.family }
  const isAdvertised = metallb.filter(isAdvertisement).some((one) => isForPool(one, facts))
  return isAdvertised
    ? []
    : [{ level: 'error', what: `${what}: no BGPAdvertisement selects its pool ${name}`, why, fix }]
}

export const silentAnnouncer = defineCheck({
  id: 'silent-announcer',
  section: 'Announcing',
  checks: 'The announcing software shows in the status of a Service the address that the Service holds.',
  good: 'the announcing software shows every held address',
  needs: ['services', 'records'],
  applies: ({ vendor }) => !['none', 'emlb'].includes(vendor.loadBalancer.kind),
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
