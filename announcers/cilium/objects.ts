import type { Announced, Announcements, Configured, ObjectConfiguration, WantedObject } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { parseAddress } from '../shared/address.ts'
import { distinctProblems, distinct } from '../shared/order.ts'
import { lacksSessions } from '../shared/sessions.ts'
import { type CiliumOptions, isOurs, secretName, ownLabels, ownName } from './ownership.ts'
import { peersOf } from './peers.ts'
import { shownAddresses, type ShownAddress } from '../shared/shown-addresses.ts'
import { omitTakenNames } from '../shared/taken-names.ts'
import { holds, keptPools, poolName, poolsOf } from './pools.ts'
import { reportedProblems } from './reported-problems.ts'
import { ciliumResources, isPool, type BGPAdvertisement, apiVersion } from './resources.ts'
import { wakingProblems } from './waking.ts'
import { exactSelectors } from './services-selector.ts'

const { pools, peerConfigs, advertisements, overrides, clusterConfigs, nodeConfigs } = ciliumResources

/** Cilium's LB IPAM and BGP control plane, configured by its custom resources. */
export function ciliumObjects(options: CiliumOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.secretsNamespace,
    // The override of a node before its sessions: a later one ends and starts them again.
    kinds: [
      { resource: secrets, only: secretName },
      { resource: peerConfigs },
      { resource: advertisements },
      { resource: overrides },
      { resource: clusterConfigs },
      { resource: pools },
    ],
    from: 'Cilium 1.18 or later, with bgpControlPlane.enabled=true',
    isOurs,
    objects: (state, existing) => configure(options, state, existing),
    reports: [pools, peerConfigs, clusterConfigs, nodeConfigs],
    reportedProblems,
    announcing: pools,
    nameFor: poolName,
    hasAddress(object, text) {
      const address = parseAddress(text)
      return address !== undefined && isPool(object) && isOurs(object) && holds(object, address)
    },
  }
}

function configure(options: CiliumOptions, state: Announcements, existing: readonly KubeObject[]): Configured {
  const { shown, problems } = shownAddresses(state.addresses, 'Cilium')
  const own = poolsOf(shown, existing)
  const all = [...own.wanted, ...keptPools(state, own.wanted, existing)]
  const found = [...problems, ...own.problems]
  if (all.length === 0) return { wanted: [], problems: distinctProblems(found), isHeld: shown.length > 0 }
  const waking = wakingProblems(state, existing)
  if (waking.length > 0) return { wanted: [], problems: distinctProblems([...found, ...waking]), isHeld: true }
  const peers = peersOf(state.nodes, options, existing)
  const known = shownAddresses(undecidedWithPool(state, existing), 'Cilium').shown
  const wanted = [...peers.common, ...advertisementOf([...shown, ...known]), ...peers.wanted, ...all]
  const foreign = existing.filter((one) => !isOurs(one))
  const possible = omitTakenNames(wanted, foreign, [...found, ...peers.problems])
  return { ...possible, isHeld: lacksSessions(state.nodes, possible.wanted, clusterConfigs.kind) }
}

/** The ledger has not decided yet whose these addresses are. An address with our pool is announced already. */
function undecidedWithPool({ undecided = [] }: Announcements, existing: readonly KubeObject[]): Announced[] {
  const ours = new Set(existing.filter((one) => isPool(one) && isOurs(one)).map(({ metadata }) => metadata.name))
  return undecided.filter(({ address }) => ours.has(poolName(address) ?? ''))
}

/**
 * The routes for the cloud's routers: the addresses of exactly these Services. The router would refuse any other address,
 * and must not learn inner addresses.
 */
function advertisementOf(shown: readonly ShownAddress[]): WantedObject[] {
  const services = distinct(shown.flatMap((one) => one.services))
  if (services.length === 0) return []
  const advertisements = exactSelectors(services).map((selector) => ({
    advertisementType: 'Service',
    service: { addresses: ['LoadBalancerIP'] },
    selector,
  }))
  const object: BGPAdvertisement = {
    apiVersion,
    kind: 'CiliumBGPAdvertisement',
    metadata: { name: ownName, labels: ownLabels },
    spec: { advertisements },
  }
  return [{ object, subjects: services.map((service) => ({ service })) }]
}
