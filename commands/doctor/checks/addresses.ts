import { shownAddresses, addressConditionOf } from '../../../ledger/record/address-use.ts'
import { type Service, keyOf, ingressOf } from '../../../kube/objects.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import {
  type ElasticIP,
  claimKey,
  isSecond,
  phaseOf,
  provisionedSourceOf,
  reservationIdOf,
} from '../../../ledger/record/elastic-ip.ts'
import { hasReservationOf } from '../../../ledger/record/source.ts'
import { checkOwnAddress } from '../../../ledger/want/own-address-rules.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { holdersOf, isOf, isOverdue, ownAddressFacts, wantOf } from '../../../inspect/wanted.ts'
import { shell } from '../../../lib/remedy.ts'

export const doubledAddresses = defineCheck({
  id: 'doubled-addresses',
  section: 'Addresses',
  checks:
    'No two ElasticIPs have the same address or reservation, and Services of two namespaces do not show the same address.',
  good: 'no address has two holders',
  needs: ['records', 'services'],
  judge: ({ records, services }) => [...doubledRecords(records), ...doubledServices(services)],
})

function doubledRecords(records: readonly ElasticIP[]): Finding[] {
  const holding = records.filter((record) => phaseOf(record) !== 'Releasing')
  // A Service's record may have the address of a provisioned ElasticIP, which then must have no second record.
  const texts = withoutClaimed(holding).map((record) => {
    const source = provisionedSourceOf(record)
    if (source !== undefined) return { record, held: `the address of ElasticIP ${source}` }
    const address = canonicalIpAddress(record.status?.address ?? '')
    return { record, held: address === undefined ? undefined : `address ${address}` }
  })
  const known = texts.filter(({ held }) => held !== undefined)
  const byAddress = Map.groupBy(known, ({ held }) => held)
  return [...byAddress].flatMap(([held, all]): Findings => {
    if (all.length < 2) return []
    const names = all
      .toSorted((one, other) => ageOf(one.record).localeCompare(ageOf(other.record)))
      .map(({ record }) => record.metadata.name)
    const last = names.at(-1) ?? ''
    // A deletion would release the reservation, or wait forever because the other Service shows the address.
    const forget = `kubectl patch eip ${last} --type=merge -p '{"metadata":{"finalizers":null}}' && kubectl delete eip ${last}`
    return {
      level: 'error',
      what: `${held} is held by ${names.length} ElasticIPs: ${names.join(', ')}`,
      why: 'traffic of one Service reaches the other, and the release of one ends both',
      fix: shell`kubectl get eip ${names.join(' ')} -o yaml   # then give the last one's Service another address: \`${forget}\``,
    }
  })
}

/**
 * Until the leader transfers it, a warm address is also held by its own record, which does not count as a second
 * holder.
 */
function withoutClaimed(holding: readonly ElasticIP[]): ElasticIP[] {
  const claims = holding.filter(({ spec }) => spec.source?.type === 'WarmPool')
  return holding.filter((source) => !claims.some((record) => hasReservationOf(record, source)))
}

function ageOf({ metadata }: ElasticIP): string {
  return metadata.creationTimestamp ?? ''
}

function doubledServices(services: readonly Service[]): Finding[] {
  const shown = services.flatMap((service) =>
    ingressOf(service).flatMap(({ ip = '' }) => {
      const address = canonicalIpAddress(ip)
      return address === undefined ? [] : [{ address, service }]
    }),
  )
  return [...Map.groupBy(shown, ({ address }) => address)].flatMap(([address, all]): Findings => {
    if (new Set(all.map(({ service }) => service.metadata.namespace)).size < 2) return []
    return {
      level: 'error',
      what: `address ${address} is shown by Services of several namespaces: ${all.map(({ service }) => keyOf(service)).join(', ')}`,
      why: 'traffic of one reaches the other',
      fix: shell`kubectl get eip -o wide | grep ${address}   # delete and create again the Service that it does not name`,
    }
  })
}

export const shownAddressesHeld = defineCheck({
  id: 'shown-not-held',
  section: 'Addresses',
  checks:
    'Every address that a Service shows is held for it, or is a user-chosen address that the project has reserved.',
  good: 'every address that a Service shows is held for it',
  needs: ['services', 'records', 'reservations', 'cluster'],
  judge: (facts, context) => facts.services.flatMap((service) => notHeld(service, facts, context)),
})

type Held = Pick<Values, 'services' | 'records' | 'reservations' | 'cluster'>

function notHeld(service: Service, facts: Held, context: Context): Findings {
  const { records } = facts
  // Any address that the controllers let a Service have, for example a shared one, is also fine here.
  const wanted = checkOwnAddress(wantOf(service, context), service, ownAddressFacts(facts, context))
  if (!['reserve', 'named', 'own', 'wrong'].includes(wanted.kind)) return []
  const { policy } = context.vendor
  const shown = shownAddresses(service, allRequestAnnotations(policy.requestAnnotations))
  const unheld = shown.filter(({ address }) => {
    const isHeld = holdersOf(address, records).some((record) => isOf(record, service))
    const isOwn = wanted.kind === 'own' && wanted.address === address && wanted.doubt === undefined
    return !isHeld && !isOwn
  })
  const byAddress = Map.groupBy(unheld, ({ address }) => address)
  return [...byAddress].map(([address, places]) => {
    const [holder] = holdersOf(address, records)
    const where = places.map((place) => place.where).join(' and ')
    const whose = holder
      ? `ElasticIP ${holder.metadata.name} holds it for ${claimKey(holder) ?? 'no Service'}`
      : 'no ElasticIP holds it'
    return {
      level: 'error',
      what: `Service ${keyOf(service)} shows ${address} in ${where}, and ${whose}`,
      why: 'the provider may give that address to another customer, or has',
      fix: shell`kubectl describe service -n ${service.metadata.namespace} ${service.metadata.name}   # if \`serve\` runs, remove the address from the Service`,
    }
  })
}

export const pendingAddresses = defineCheck({
  id: 'pending-addresses',
  section: 'Addresses',
  checks: 'No Service waits for its address for more than five minutes, and no Service has contradictory annotations.',
  good: 'no Service waits for an address',
  needs: ['services', 'records'],
  judge: ({ services, records }, context) => services.flatMap((service) => pending(service, records, context)),
})

function pending(service: Service, records: readonly ElasticIP[], context: Context): Findings {
  const { metadata } = service
  const wanted = wantOf(service, context)
  const key = keyOf(service)
  const fix = shell`kubectl describe service -n ${metadata.namespace} ${metadata.name}   # the Events say what is tried`
  const own = records.filter((record) => isOf(record, service))
  const held = own.filter(({ status }) => status?.address !== undefined)
  const lacksSecond = wanted.kind === 'reserve' && wanted.second?.isRequired === true && !held.some(isSecond)
  const hasAll = held.length > 0 && !lacksSecond
  if (metadata.deletionTimestamp !== undefined || hasAll || !isOverdue(metadata, context)) return []
  const record = own.find((one) => !held.includes(one))
  const condition = addressConditionOf(service)
  const said = condition?.status === 'False' ? condition.message : undefined
  const why =
    record?.status?.message ??
    said ??
    'it should have one within seconds: no `serve` leads, or the provider does not answer'
  if (wanted.kind === 'wrong') {
    const what = `Service ${key} gets no address: ${wanted.problems.join('; ')}`
    return { level: 'warning', what, why: 'its user must correct it', fix }
  }
  const isWaiting =
    wanted.kind === 'reserve' || wanted.kind === 'named' || (wanted.kind === 'own' && said !== undefined)
  const what = `Service ${key} waits for its ${held.length > 0 ? 'second address' : 'address'}`
  return isWaiting ? { level: 'warning', what, why, fix } : []
}

export const orphanedRecords = defineCheck({
  id: 'orphaned-records',
  section: 'Addresses',
  checks: 'Every bound ElasticIP has its Service, and the provider still has the reservation of every ElasticIP.',
  good: 'every ElasticIP has its Service and its reservation',
  needs: ['records', 'services', 'reservations'],
  judge({ records, services, reservations }, context) {
    const keys = new Set(services.map(keyOf))
    const ids = new Set(reservations.map(({ id }) => id))
    return records.flatMap((record) => [withoutService(record, keys, context), withoutReservation(record, ids)].flat())
  },
})

function withoutService(record: ElasticIP, keys: ReadonlySet<string>, context: Context): Findings {
  const key = claimKey(record)
  const { name } = record.metadata
  if (phaseOf(record) !== 'Bound' || key === undefined || keys.has(key) || !isOverdue(record.metadata, context))
    return []
  return {
    level: 'warning',
    what: `ElasticIP ${name} holds ${record.status?.address} for Service ${key}, which does not exist`,
    why: 'the project pays for it; the leader releases it within minutes if it runs',
    fix: shell`kubectl describe eip ${name}   # to release it: \`kubectl delete eip ${name}\``,
  }
}

function withoutReservation(record: ElasticIP, ids: ReadonlySet<string>): Findings {
  const id = reservationIdOf(record)
  const { name } = record.metadata
  if (id === undefined || ids.has(id) || phaseOf(record) === 'Releasing') return []
  return {
    level: 'error',
    what: `ElasticIP ${name} holds ${record.status?.address ?? 'no address'}, but its reservation ${id} is not in the project`,
    why: 'it was deleted at the provider, which may give the address to another customer; or the token is of another project',
    fix: shell`kubectl describe eip ${name}   # the sweep gives its Service a new address`,
  }
}
