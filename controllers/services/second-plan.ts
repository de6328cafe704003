// How a Service gets and loses its second address. The first row that applies decides.
//
//   the Service               | and                                             | step
//   --------------------------+-------------------------------------------------+-------------------------
//   wants one                 | the record is Releasing                         | release, which may end as kept
//   any other, or none        | the record is Releasing, the status shows it    | hide-in-status
//   any other, or none        | the record is Releasing                         | release
//   does not exist            | as removal-plan.ts says                         | release, retain or wait
//   is to be ignored          |                                                 | -
//   wants no second address   | the record is unbound, within the grace period  | wait
//   wants none, or is deleted | its status shows the address                    | hide-in-status
//   wants none, or is deleted | the record lost its address, and has another    | set-reclaim-policy
//                             | reclaim policy                                  |
//   wants none, or is deleted | it has a record that is not Released            | release or retain
//   may want one              | its first address is to be shown again before   | -
//   wants one                 | the first record holds no address               | -
//   wants one                 | its record lost an address that its status shows| hide-in-status
//   wants one                 | the record holds none                           | claim
//   the address it holds      | another program is to show it                    | -
//   the address it holds      | the record is not bound to this Service         | bind
//   the address it holds      | its reclaim policy differs from the record's    | set-reclaim-policy
//   the address it holds      | the record says wrongly whether it is protected | note-protection
//   otherwise                 |                                                 | -
//
// The plan of the first address writes both into the status, and lets the Service be deleted when both are released. It
// leaves a wanted second address in the status while it has no record, or a record that may yet find it.
import type { Service } from '../../kube/objects.ts'
import { heldAddress, phaseOf, secondKey, serviceOfAddress } from '../../ledger/record/elastic-ip.ts'
import { mayFindShown } from '../../ledger/record/records.ts'
import { secondClaimOf } from '../../ledger/claim/claim-spec.ts'
import { statusAddresses } from '../../ledger/record/address-use.ts'
import { isFirstUnshown, isSecondWanted } from '../../ledger/want/wanted.ts'
import type { Want } from '../../ledger/want/want.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { planWithoutService } from './removal-plan.ts'
import { type ServiceSeen, graceLeftMs, isBoundTo } from './service-state.ts'
import { giveUp, notePolicy } from './reclaim-steps.ts'
import { type ServicePlan, settled } from './service-step.ts'

type Wanting = { service: Service; wanted: Want }

/** The next step for the second address of a Service. Pure. */
export function planSecond(seen: ServiceSeen): ServicePlan {
  const { service, wanted, record } = seen
  if (!service || !wanted) return record ? planWithoutService(seen, record) : settled
  const isNeeded = !service.metadata.deletionTimestamp && isWantedBy(seen, { service, wanted })
  if (record && phaseOf(record) === 'Releasing') {
    const hidden = isNeeded ? undefined : hide(service, [record.status?.address])
    return hidden ?? { step: { do: 'release', record } }
  }
  if (wanted.kind === 'ignored' && !service.metadata.deletionTimestamp) return settled
  if (!isNeeded) return planUnneeded(seen, service)
  const [first] = seen.others
  return isFirstUnshown({ service, wanted, first }) ? settled : planNeeded(seen, { service, wanted })
}

/** Whether a Service wants this address, or has it while its want is unknown. */
function isWantedBy({ key, record, others: [first] }: ServiceSeen, { service, wanted }: Wanting): boolean {
  if (record) return isSecondWanted(record, { service, wanted, first })
  return (
    wanted.kind === 'reserve' &&
    wanted.second !== undefined &&
    key === secondKey(serviceOfAddress(key), wanted.second.family)
  )
}

function planUnneeded(seen: ServiceSeen, service: Service): ServicePlan {
  const { record } = seen
  if (!record || phaseOf(record) === 'Released') return settled
  const againInMs = service.metadata.deletionTimestamp ? undefined : graceLeftMs(seen)
  if (againInMs !== undefined) return { againInMs }
  return hide(service, [record.status?.address]) ?? { step: giveUp(seen, record) }
}

function planNeeded(seen: ServiceSeen, { service, wanted }: Wanting): ServicePlan {
  const { record, others } = seen
  const { uid = '' } = service.metadata
  if (!record || heldAddress(record) === undefined) {
    const claim = wanted.kind === 'reserve' ? secondClaimOf(wanted) : undefined
    const held = others.flatMap((first) => canonicalIpAddress(heldAddress(first) ?? '') ?? [])
    if (!claim || held.length === 0) return settled
    // A lost address must not be announced while another is claimed. In other cases the claim checks.
    const isLost = record && !mayFindShown(record)
    const lost = isLost ? statusAddresses(service).filter((shown) => !held.includes(shown)) : []
    const second = wanted.kind === 'reserve' ? wanted.second : undefined
    return hide(service, lost) ?? { step: { do: 'claim', ...claim, ...(second && { second }) } }
  }
  // The address is reserved for another program, which shows it.
  if (wanted.kind === 'foreign') return settled
  if (!isBoundTo(service, record)) return { step: { do: 'bind', record, uid } }
  const note = notePolicy(seen, record)
  return note ? { step: note } : settled
}

/** Takes addresses out of the status; undefined if it shows none of them. */
function hide(service: Service, addresses: (string | undefined)[]): ServicePlan | undefined {
  const hidden = addresses.flatMap((address) => canonicalIpAddress(address ?? '') ?? [])
  const isShown = statusAddresses(service).some((shown) => hidden.includes(shown))
  return isShown ? { step: { do: 'hide-in-status', addresses: hidden } } : undefined
}
