import { setTimeout as sleep } from 'node:timers/promises'
import { type CacheIndex, indexCache } from '../../kube/reflector.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import { type IpAddress, canonicalIpAddress, parseIpAddress, rangeSet } from '../../lib/ip-address.ts'
import { repeat } from '../../lib/repeat.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import { hasAddressOf } from '../record/marks.ts'
import { isRelevantChange } from '../record/status.ts'
import { usedAddresses, type OwnAddressFacts, checkOwnAddress } from '../want/own-address-rules.ts'
import { ownAddress } from '../want/own-address.ts'
import type { Want } from '../want/want.ts'
import type { Caches } from '../caches.ts'
import type { ClusterNetworks } from './cluster-networks.ts'
import type { Context } from '../context.ts'
import { type KnownReservations, type KnownReservationsOptions, knownReservations } from './provider-lists.ts'

/** Which Services may have the user-chosen addresses that they name. */
export type OwnAddresses = {
  /** The want of a Service, judged by the current knowledge of its own address. */
  check(wanted: Want, service: Service): Want
  /** The same for an address of another program, which the project need not have reserved. */
  checkForeign(wanted: Want, service: Service): Want
  /** Reads what the check of a user-chosen address needs, and waits briefly for the result. */
  refresh(wanted: Want, signal: AbortSignal): Promise<void>
  /** The Services in the cache that show an address, or request it from the software that we configure. */
  users(address: string): Service[]
  /** Calls the listener with the Services whose check may now have another result. */
  onChange(listener: (keys: Key[]) => void): void
  /** Checks stored Services periodically: an operator may reserve or delete their addresses later. */
  start(signal: AbortSignal): void
}

/** How long a review waits for the provider. A Service whose address we cannot check is stored, and the controller decides. */
const waitMs = 3_000

/** How often stored Services are checked, and the maximum age of a list that lacks a Service's address. */
const recheckMs = 15_000
const maxAbsentMs = 60_000

type Options = Pick<Context, 'cluster' | 'log'> & {
  vendor: Pick<Context['vendor'], 'policy' | 'marks'> & { cloud: KnownReservationsOptions['cloud'] }
  settings: { cluster: Pick<Context['settings']['cluster'], 'ownAddressRanges'> }
  caches: {
    services: Pick<Caches['services'], 'list' | 'onChange' | 'synced'>
    records: Pick<Caches['records'], 'onChange'>
  }
  networks: Omit<ClusterNetworks, 'families'>
}

/** The checks of user-chosen addresses against the ledger, the cluster, the settings and the provider. */
export function ownAddresses(options: Options): OwnAddresses {
  const { vendor, caches, networks } = options
  const sources = makeSources(options)
  const { reservations, facts } = sources
  const isOwn = (service: Service) => ownAddress(service, vendor.policy.requestAnnotations) !== undefined
  const refresh = async ({ address, signal, ...patience }: Lookup) => {
    const isClear = facts.isInRanges(address) && facts.nodeClaim(address) === undefined
    const isKnown = isClear || facts.records(address).length > 0
    await Promise.all([
      networks.refresh(signal),
      ...(isKnown ? [] : [reservations.refresh(address, signal, patience.maxAbsentMs)]),
    ])
  }
  const recheck = async (signal: AbortSignal) => {
    await networks.refresh(signal)
    for (const service of caches.services.list().filter(isOwn)) {
      const own = parseIpAddress(ownAddress(service, vendor.policy.requestAnnotations)?.address ?? '')
      if (own) await refresh({ address: own, signal, maxAbsentMs })
    }
  }
  return {
    check: (wanted, service) => checkOwnAddress(wanted, service, facts),
    checkForeign: (wanted, service) => checkOwnAddress(wanted, service, { ...facts, isInRanges: () => true }),
    async refresh(wanted, signal) {
      const address = wanted.kind === 'own' ? parseIpAddress(wanted.address) : undefined
      if (address) await Promise.race([refresh({ address, signal }), sleep(waitMs, undefined, { ref: false })])
    },
    users: (address) => sources.users.of(address),
    onChange: (listener) => listenTo({ caches, networks, ...sources, isOwn }, listener),
    start: (signal) => void recheckUntilAborted(caches, recheck, signal),
  }
}

type Lookup = { address: IpAddress; signal: AbortSignal; maxAbsentMs?: number }

/** Checks as soon as the Services are known, then every few seconds. */
async function recheckUntilAborted(
  { services }: Options['caches'],
  recheck: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await services.synced(signal).catch(() => undefined)
  await repeat(recheck, { everyMs: recheckMs, signal })
}

type Sources = {
  facts: OwnAddressFacts
  reservations: KnownReservations
  /** The addresses that a Service uses, and the Services that use an address. */
  used: (service: Service) => string[]
  users: CacheIndex<Service>
}

function makeSources({ vendor, cluster, log, settings, caches, networks }: Options): Sources {
  const now = () => performance.now()
  const reservations = knownReservations({ cloud: vendor.cloud, log, now })
  const used = (service: Service) => usedAddresses(service, vendor.policy)
  const users = indexCache(caches.services, used)
  const records = indexCache(caches.records, addressesOf)
  const named = indexCache(caches.records, reservationsOf)
  const scheme = { ...vendor.marks, cluster }
  caches.records.onChange((_name, current, previous) => {
    const deleted = [current, previous].find((one) => one && (isBeingDeleted(one) || phaseOf(one) === 'Releasing'))
    const id = deleted && reservationIdOf(deleted)
    if (id !== undefined && (!current || isBeingDeleted(current)))
      reservations.forget({ id, address: deleted?.status?.address })
  })
  const facts: OwnAddressFacts = {
    clusterNetwork: (address) => networks.of(address),
    isInRanges: rangeSet(settings.cluster.ownAddressRanges),
    isReserved: (address) => reservations.has(address),
    reservation: (address) => reservations.find(address),
    scheme,
    nodeClaim: (address) => networks.nodeClaim(address),
    // A new ElasticIP that a person created has no address yet. If its id now has another address, it is stale.
    records(address) {
      const found = reservations.find(address)
      const naming = found ? named.of(found.id).filter((record) => hasAddressOf(record, found)) : []
      return [...new Set([...records.of(address.text), ...naming])]
    },
    users: (address) => users.of(address),
  }
  return { facts, reservations, used, users }
}

function isBeingDeleted({ status }: ElasticIP): boolean {
  return status?.deletionRequestedAt !== undefined
}

function addressesOf({ status }: ElasticIP): string[] {
  const address = canonicalIpAddress(status?.address ?? '')
  return address === undefined ? [] : [address]
}

function reservationsOf(record: ElasticIP): string[] {
  const id = reservationIdOf(record)
  return id === undefined ? [] : [id]
}

type Changing = Pick<Sources, 'reservations' | 'used' | 'users'> & {
  caches: Options['caches']
  networks: Options['networks']
  isOwn: (service: Service) => boolean
}

/** A Service or record that takes or releases an address affects the other Services that name it. */
function listenTo(
  { caches, networks, reservations, used, users, isOwn }: Changing,
  listener: (keys: Key[]) => void,
): void {
  const report = (addresses: string[], self?: Key) => {
    const keys = addresses.flatMap((address) => users.of(address)).map(keyOf)
    const others = [...new Set(keys)].filter((key) => key !== self)
    if (others.length > 0) listener(others)
  }
  caches.services.onChange((key, current, previous) => {
    const [now, before] = [current, previous].map((service) => (service ? used(service) : []))
    if (now?.join() !== before?.join()) report([...(now ?? []), ...(before ?? [])], key)
  })
  caches.records.onChange((_name, current, previous) => {
    if (isRelevantChange(current, previous)) report([current, previous].flatMap((one) => (one ? addressesOf(one) : [])))
  })
  for (const source of [reservations, networks])
    source.onChange(() => listener(caches.services.list().filter(isOwn).map(keyOf)))
}
