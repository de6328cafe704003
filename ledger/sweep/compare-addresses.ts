import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, heldAddress, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { type Contradiction, contradictions, outdatedWarm } from './contradictions.ts'
import type { Failures } from './failures.ts'
import { type OwnerDeps, warnOwner } from './warn-owner.ts'

type Deps = LedgerDeps & OwnerDeps & { listRecords: () => ElasticIP[] }

/**
 * Reports each record whose address cannot be right by the cloud's list, or does not work as the cloud says. Corrects what no
 * Service has seen.
 */
export async function compareAddresses(
  deps: Deps,
  { reservations, failed }: { reservations: Reservation[]; failed: Failures },
  signal: AbortSignal,
): Promise<void> {
  for (const one of contradictions(reservations, deps.listRecords(), deps)) reportContradiction(deps, one)
  for (const one of outdatedWarm(reservations, deps.listRecords())) {
    await failed.isolate(() => readAnew(deps, one, signal))
  }
  const problems = await readProblems(deps, signal)
  for (const record of deps.listRecords()) {
    const problem = problems.get(reservationIdOf(record) ?? '')
    if (problem !== undefined) reportProblem(deps, { record, problem })
  }
}

/** Only the vendor knows which is right: the Service keeps the address that the network knows. */
function reportContradiction(deps: Deps, { record, message }: Contradiction): void {
  const text = `${message}: nothing is changed; ask ${deps.cloud.name} what is right`
  deps.log.error({ record: record.metadata.name }, text)
  warnOwner(deps, record, { reason: 'ContradictoryAddress', message: text })
}

/** Takes the address off a warm record; its controller reads what the cloud grants for the reservation. */
async function readAnew({ records, cloud, log }: Deps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const { address, reservationID } = record.status ?? {}
  const message = `${cloud.name} lists another address than ${address} for reservation ${reservationID}`
  log.warn({ record: record.metadata.name, reason: message }, 'warm address is read again')
  await records.writeStatus(record, { phase: 'Requested', address: undefined, message }, { signal })
}

/** Nothing depends on the answer but what people are told, and the next sweep asks again. */
async function readProblems({ cloud, log }: Deps, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  try {
    return (await cloud.problems?.(signal)) ?? new Map<string, string>()
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn({ reason: error.message }, 'the provider does not say what is wrong with addresses')
    return new Map()
  }
}

/** The Service keeps its address: people know it, and only the vendor can fix it. */
function reportProblem(deps: Deps, { record, problem }: { record: ElasticIP; problem: string }): void {
  const { cloud, log } = deps
  const address = heldAddress(record)
  log.warn({ record: record.metadata.name, address: record.status?.address, problem }, 'an address may not work')
  const of = `${address} (reservation ${reservationIdOf(record)})`
  const message = `${cloud.name} says of ${of}: ${problem}. The Service keeps it; ask ${cloud.name} why`
  if (address !== undefined) warnOwner(deps, record, { reason: 'AddressImpaired', message })
}
