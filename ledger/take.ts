import { isConflict, isNotFound } from '../kube/errors.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, claimKey, phaseOf } from './elastic-ip.ts'
import { isFreeFor, isTakenBy, whyNot } from './stock.ts'

/** `lot`: the address that was taken; `record`: whose it is, as it is stored now. */
export type Taken = { record: ElasticIP; lot?: ElasticIP } | { record: ElasticIP; why: string }

/**
 * Takes an address out of the stock for the record of a Service: by name where it has chosen one, else a warm one, if
 * any is left. The record first says what it takes, then the stock says who took it, by compare-and-swap: so one record
 * at most has an address, and a crash in between leaves a trace on both sides.
 */
export function take(parts: AskParts, record: ElasticIP, offered: ElasticIP | undefined): Promise<Taken> {
  return record.spec.from?.lent ? borrow(parts, record, offered) : takeWarm(parts, record, offered)
}

async function borrow(parts: AskParts, record: ElasticIP, offered: ElasticIP | undefined): Promise<Taken> {
  const name = record.spec.from?.name ?? ''
  const key = claimKey(record) ?? ''
  for (let lot = offered ?? (await parts.records.get(name)); ; lot = await parts.records.get(name)) {
    const taken = lot && (await tryToTake(parts, record, lot))
    if (taken) return { record, lot: taken }
    const why = whyNot(lot, { name, key })
    if (why !== undefined) return { record, why }
  }
}

async function takeWarm(parts: AskParts, record: ElasticIP, offered: ElasticIP | undefined): Promise<Taken> {
  const { from, location = '' } = record.spec
  let current = record
  let lot = offered ?? (from ? await parts.records.get(from.name) : undefined)
  for (;;) {
    const taken = lot && (await tryToTake(parts, current, lot))
    if (taken) return { record: current, lot: taken }
    lot = parts.shelf.pick(location)
    current = await pointTo(parts, current, lot)
    if (!lot) return { record: current }
  }
}

/** Writes who takes an address, if it is still free; undefined when somebody was quicker. */
async function tryToTake(parts: AskParts, record: ElasticIP, lot: ElasticIP): Promise<ElasticIP | undefined> {
  if (isTakenBy(lot, record)) return lot.status?.address === undefined ? undefined : lot
  const { claimRef } = record.spec
  const { uid } = record.metadata
  if (!isFreeFor(claimKey(record), lot) || !claimRef || uid === undefined) return undefined
  const { namespace, name } = claimRef
  try {
    return await parts.records.writeSpec(lot, { ...lot.spec, claimRef: { namespace, name, record: uid } })
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined
    throw error
  }
}

async function pointTo(parts: AskParts, record: ElasticIP, lot: ElasticIP | undefined): Promise<ElasticIP> {
  const { from, ...spec } = record.spec
  if (from?.name === lot?.metadata.name) return record
  return parts.records.writeSpec(record, lot ? { ...spec, from: { name: lot.metadata.name, lent: false } } : spec)
}

/** Writes on an address in stock who has it, where somebody wrote over that. */
export async function takeAgain(
  parts: AskParts,
  { lot, record }: { lot: ElasticIP; record: ElasticIP },
): Promise<void> {
  const { namespace = '', name = '' } = record.spec.claimRef ?? {}
  const claimRef = { namespace, name, ...(record.metadata.uid === undefined ? {} : { record: record.metadata.uid }) }
  await parts.records.writeSpec(lot, { ...lot.spec, claimRef })
}

/** Puts an address back into the stock that no record has, or that its record has no use for. */
export async function putBack(parts: AskParts, lot: ElasticIP): Promise<void> {
  const current = phaseOf(lot) === 'Bound' ? await parts.records.writeStatus(lot, { phase: 'Available' }) : lot
  const { claimRef: _gone, ...spec } = current.spec
  await parts.records.writeSpec(current, spec)
}
