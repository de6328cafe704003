import type { Announcements, ObjectConfiguration, WantedObject } from '../announcer.ts'
import { secrets } from '../../kube/resource.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { isInRanges } from '../../lib/ip-range.ts'
import { nameOf, parseAddress } from '../shared/address.ts'
import { announceableAddresses } from './addresses.ts'
import { advertisementFor } from './advertisement.ts'
import { omitTakenNames } from '../shared/taken-names.ts'
import { type Marks, type ExistingObjects, isOurs } from './ownership.ts'
import { type PeerMode, peersOf } from './peers.ts'
import { poolsOf, undecidedPools } from './pools.ts'
import { bgpAdvertisements, bgpPeers, configurationStates, ipAddressPools, isPeer, isPool } from './resources.ts'
import { excludes, excludesWithFrr, sessionsOfPeer } from './peer-sessions.ts'
import { reportedProblems } from './reported-problems.ts'

export type ObjectOptions = Marks & { peerMode: PeerMode }

/** MetalLB from 0.13.2 on, configured by its custom resources. */
export function metallbObjects(options: ObjectOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.namespace,
    kinds: [
      { resource: secrets, only: options.passwordSecret },
      { resource: bgpAdvertisements },
      { resource: ipAddressPools },
      { resource: bgpPeers },
    ],
    from: 'MetalLB 0.13.2 or later',
    isOurs: (object) => isOurs(options, object),
    objects(state, existing) {
      const { ours = [], foreign = [] } = Object.groupBy(existing, (one) => (isOurs(options, one) ? 'ours' : 'foreign'))
      return configure(options, state, { ours, foreign })
    },
    sessionsOf: (object) => (isPeer(object) ? sessionsOfPeer(object) : undefined),
    excludes: options.peerMode === 'frr' ? excludesWithFrr : excludes,
    reports: [configurationStates],
    reportedProblems,
    announcing: ipAddressPools,
    nameFor(text) {
      const address = parseAddress(text)
      return address && nameOf(address)
    },
    hasAddress(object, text) {
      const address = parseAddress(text)
      return (
        address !== undefined && isOurs(options, object) && isPool(object) && isInRanges(address, object.spec.addresses)
      )
    },
  }
}

function configure(
  options: ObjectOptions,
  state: Announcements,
  existing: ExistingObjects,
): ReturnType<ObjectConfiguration['objects']> {
  // An advertised IPv6 pool makes MetalLB without FRR refuse its whole configuration. Only peer mode `frr` tells us that
  // MetalLB uses FRR.
  const families: IpFamily[] = options.peerMode === 'frr' ? ['ipv4', 'ipv6'] : ['ipv4']
  const { shown, problems } = announceableAddresses(state.addresses, families)
  const pools = poolsOf(shown, options, existing)
  const kept = undecidedPools(state.undecided ?? [], pools.wanted, existing)
  if (shown.length + kept.length === 0) return { wanted: [], problems }
  const all = [...pools.wanted, ...kept]
  const peers = peersOf(state.nodes, { ...options, families }, existing)
  const advertisement = advertisementFor(all, options, existing)
  const toWrite: WantedObject[] = all.map(({ object, subjects }) => ({ object, subjects }))
  return omitTakenNames([...peers.secret, ...advertisement, ...toWrite, ...peers.wanted], existing.foreign, [
    ...problems,
    ...pools.problems,
    ...peers.problems,
  ])
}
