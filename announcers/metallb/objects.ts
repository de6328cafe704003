import type { Announcements, ObjectConfiguration, Problem, Wanted } from '../announcer.ts'
import { secrets } from '../../kube/resource.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { isInRanges } from '../../lib/ip-range.ts'
import { parseAddress } from './address.ts'
import { announceable } from './addresses.ts'
import { advertisementOf } from './advertisement.ts'
import { distinctProblems } from './order.ts'
import { type Marks, type There, isOurs } from './ownership.ts'
import { type PeerMode, peersOf } from './peers.ts'
import { poolsOf } from './pools.ts'
import { bgpAdvertisements, bgpPeers, configurationStates, ipAddressPools, isPool } from './resources.ts'
import { verdict } from './verdict.ts'

export type ObjectOptions = Marks & { peerMode: PeerMode }

/** MetalLB from 0.13.2 on, by its custom resources. */
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
    isOurs: (object) => isOurs(options, object),
    objects(state, there) {
      const { ours = [], theirs = [] } = Object.groupBy(there, (one) => (isOurs(options, one) ? 'ours' : 'theirs'))
      return configure(options, state, { ours, theirs })
    },
    reports: [configurationStates],
    verdict,
    announces(object, text) {
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
  there: There,
): ReturnType<ObjectConfiguration['objects']> {
  // An advertised pool of IPv6 makes MetalLB without FRR refuse everything, and only `frr` says how it speaks.
  const families: IpFamily[] = options.peerMode === 'frr' ? ['ipv4', 'ipv6'] : ['ipv4']
  const { shown, problems } = announceable(state.addresses, families)
  if (shown.length === 0) return { wanted: [], problems }
  const pools = poolsOf(shown, options, there)
  const peers = peersOf(state.nodes, { ...options, families }, there)
  const advertisement = advertisementOf(pools.wanted, options, there)
  const toWrite: Wanted[] = pools.wanted.map(({ object, concerns }) => ({ object, concerns }))
  return leaveTheirs([...peers.secret, ...advertisement, ...toWrite, ...peers.wanted], there, [
    ...problems,
    ...pools.problems,
    ...peers.problems,
  ])
}

/** Without those that somebody else made under the name that ours would have. */
function leaveTheirs(wanted: Wanted[], { theirs }: There, problems: Problem[]) {
  const isTaken = ({ object }: Wanted) =>
    theirs.some(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name)
  const refused = wanted.filter(isTaken).flatMap(({ object, concerns }) => {
    const message = `${object.kind} ${object.metadata.namespace}/${object.metadata.name} is there and is not ours: it is left alone`
    return concerns.map((concern) => ({ concern, message }))
  })
  return { wanted: wanted.filter((one) => !isTaken(one)), problems: distinctProblems([...problems, ...refused]) }
}
