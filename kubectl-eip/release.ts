import { isConflict } from '../kube/errors.ts'
import { type ElasticIP, elasticIPs } from '../ledger/record/elastic-ip.ts'
import { type Io, Refusal, untilSettled } from './io.ts'
import { type Cluster, findRecord, forElasticIPs, readUsers } from './reader.ts'
import { planRelease } from './release-plan.ts'

/**
 * Gives back a retained address: deletes its ElasticIP if nothing uses it. eip-admission checks again before it acts.
 */
export async function release(
  cluster: Cluster,
  of: { name: string; yes: boolean; waitMs: number },
  io: Io,
): Promise<void> {
  const all = await readUsers(cluster)
  const record = findRecord(of.name, { records: all.records, namespace: cluster.namespace })
  const plan = planRelease(record, all)
  if ('refusal' in plan) throw new Refusal(plan.refusal)
  await confirm(io, { text: plan.consequence, yes: of.yes, what: record.status?.address ?? record.metadata.name })
  await removeRecord(cluster, record)
  const { name, uid } = record.metadata
  const left = await untilSettled(of.waitMs, async () => {
    const now = await cluster.client.get(elasticIPs, { name })
    return { now, isSettled: now?.metadata.uid !== uid }
  })
  if (left?.metadata.uid !== uid) return io.print(`ElasticIP ${name} is deleted.\n`)
  const message = left?.status?.message ?? 'eip-admission has not acted on it yet'
  io.print(`The deletion of ElasticIP ${name} is requested, and continues without this command: ${message}.\n`)
}

/** Deletes a record in the version that was read: anyone who has changed it since may use the address. */
export async function removeRecord({ client }: Cluster, { metadata }: ElasticIP): Promise<void> {
  const { name, uid, resourceVersion } = metadata
  try {
    await forElasticIPs('delete', client.remove(elasticIPs, { name, uid, resourceVersion }))
  } catch (error) {
    if (isConflict(error)) throw new Refusal(`ElasticIP ${name} has just changed; check it, and run this command again`)
    throw error
  }
}

/** Asks a person to confirm by typing the name of the thing at stake. */
export async function confirm(io: Io, of: { text: string; what: string; yes: boolean }): Promise<void> {
  io.printError(`${of.text}\n`)
  if (of.yes) return
  if (!io.ask) throw new Refusal('cannot prompt without a terminal; add --yes to confirm')
  const answer = await io.ask(`Type ${of.what} to continue: `)
  if (answer.trim() !== of.what) throw new Refusal('nothing was changed')
}
