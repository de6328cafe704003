import type { Announcements, ObjectConfiguration, Problem, WantedObject } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { parseAddress } from '../shared/address.ts'
import { distinctProblems } from '../shared/order.ts'
import { advertisementOf } from './advertisement.ts'
import { type CiliumOptions, isOurs, secretName } from './ownership.ts'
import { peersOf } from './peers.ts'
import { holds, keptPools, poolName, poolsOf, shownAddresses } from './pools.ts'
import { reportedProblems } from './reported-problems.ts'
import { ciliumResources, isPool } from './resources.ts'
import { wakingProblems } from './waking.ts'

const { pools, peerConfigs, advertisements, overrides, clusterConfigs, nodeConfigs } = ciliumResources

/** Cilium's LB IPAM and BGP control plane, configured by its custom resources. */
export function ciliumObjects(options: CiliumOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.secretsNamespace,
    // The override of a node before its sessions: one that comes later ends and begins them again.
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

function configure(options: CiliumOptions, state: Announcements, existing: readonly KubeObject[]) {
  const { shown, problems } = shownAddresses(state.addresses)
  const own = poolsOf(shown, existing)
  const all = [...own.wanted, ...keptPools(state, own.wanted, existing)]
  const found = [...problems, ...own.problems]
  if (all.length === 0) return { wanted: [], problems: distinctProblems(found) }
  const waking = wakingProblems(state, existing)
  if (waking.length > 0) return { wanted: [], problems: distinctProblems([...found, ...waking]) }
  const peers = peersOf(state.nodes, options, existing)
  const wanted = [...peers.common, ...advertisementOf(shown), ...peers.wanted, ...all]
  return omitTakenNames(wanted, existing, [...found, ...peers.problems])
}

/** The objects whose name no foreign object has, and a problem for each of the others. */
function omitTakenNames(wanted: WantedObject[], existing: readonly KubeObject[], problems: Problem[]) {
  const foreign = existing.filter((one) => !isOurs(one))
  const isTaken = ({ object }: WantedObject) =>
    foreign.some(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name)
  const refused = wanted.filter(isTaken).flatMap(({ object, subjects }) => {
    const message = `${object.kind} ${object.metadata.name} exists and eip-admission does not manage it, so it is not changed; delete or rename it`
    return subjects.map((subject) => ({ subject, message }))
  })
  return { wanted: wanted.filter((one) => !isTaken(one)), problems: distinctProblems([...problems, ...refused]) }
}
