import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import { type Key, splitKey } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { type ElasticIP, elasticIPs, reservationIdOf, claimKey } from '../ledger/record/elastic-ip.ts'
import { isSource } from '../ledger/record/source.ts'
import { availableText, awaitAvailable, isClaimable, provisionedRecord } from './adopt.ts'
import { findRecord, type Cluster, forElasticIPs, readUsers } from './reader.ts'
import { type Io, Refusal } from './io.ts'
import { type MovePlan, planMove } from './move-plan.ts'
import { confirm, removeRecord } from './release.ts'
import { keyOfService } from './why.ts'
import { allowedBeforeMoveAnnotation } from '../ledger/record/names.ts'
import { hashForName, isDnsLabel } from '../lib/names.ts'

export type MoveOptions = { from: string; to: string; name?: string | undefined; yes: boolean; waitMs: number }

/**
 * Moves an address that is no longer used to another Service. It checks live state before it acts, and every write
 * is a compare-and-swap. eip-admission itself checks again before the other Service gets the address.
 */
export async function move(cluster: Cluster, options: MoveOptions, io: Io): Promise<void> {
  const to = keyOfService(options.to, cluster.namespace)
  const all = await readUsers(cluster)
  const record = asBeforeMove(findRecord(options.from, { records: all.records, namespace: cluster.namespace }))
  const { namespace, name } = splitKey(to)
  const target = await cluster.client.get(services, { namespace, name })
  const plan = planMove({ record, to, target, all })
  if ('refusal' in plan) throw new Refusal(plan.refusal)
  const address = record.status?.address ?? record.metadata.name
  const text = `From now on, only Service ${to} may have ${address}. The project keeps paying for it.`
  await confirm(io, { text, what: address, yes: options.yes })
  const moved = await carryOut(cluster, { plan, record, name: options.name ?? nameFor(to) })
  const found = await awaitAvailable(cluster, moved, options.waitMs)
  if (!found) throw new Refusal(lostText(moved, reservationIdOf(record)))
  io.print(isClaimable(found) ? availableText(found) : pendingText(found, { address, to }))
}

/** The name of a new ElasticIP for a Service: with both its names, if that is not too long. */
function nameFor(to: Key): string {
  const name = to.replace('/', '-')
  return isDnsLabel(name) ? name : `moved-${hashForName(to, 8)}`
}

/**
 * The text about an unfinished move. The former record is being deleted, and with it the reservation unless the new
 * ElasticIP names it.
 */
function pendingText({ metadata: { name }, status }: ElasticIP, { address, to }: { address: string; to: Key }): string {
  const message = status?.message ?? 'eip-admission has not acted on it yet'
  return (
    `The move of ${address} to Service ${to} is requested, and continues without this command: ${message}.\n` +
    `Do not delete ElasticIP ${name}: it keeps the reservation. To see when it is Available: \`kubectl get eip ${name}\`\n`
  )
}

function lostText({ metadata: { name } }: ElasticIP, reservationID: string | undefined): string {
  return (
    `ElasticIP ${name} no longer exists: it was deleted, and it kept reservation ${reservationID}. ` +
    'To keep the reservation, create an ElasticIP with this spec.reservationID immediately'
  )
}

type Move = { plan: Exclude<MovePlan, { refusal: string }>; record: ElasticIP; name: string }

async function carryOut(cluster: Cluster, { plan, record, name }: Move): Promise<ElasticIP> {
  if (plan.do === 'set-claim') return setClaim(cluster, record, plan.claimRef)
  const provisioned = provisionedRecord(name, plan.spec)
  // The new ElasticIP comes first: while it names the reservation, that outlives the former record.
  const created = await createProvisioned(cluster, provisioned)
  try {
    await removeRecord(cluster, record)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // Someone else is moving it too, and the record is still being deleted: without the new ElasticIP the address would
    // be lost.
    if (!(await isKept(cluster, record))) return provisioned
    // The former Service has the address again, so the new ElasticIP must not wait for it.
    if (created) await cluster.client.remove(elasticIPs, { name, uid: created.metadata.uid })
    throw error
  }
  return provisioned
}

/** Whether a record still exists, and is not being deleted. */
async function isKept({ client }: Cluster, { metadata: { name, uid } }: ElasticIP): Promise<boolean> {
  const now = await forElasticIPs('get', client.get(elasticIPs, { name }))
  return now?.metadata.uid === uid && now?.metadata.deletionTimestamp === undefined
}

/**
 * Creates the ElasticIP, and returns it as stored; undefined if an earlier or concurrent move has written the same one.
 */
async function createProvisioned({ client }: Cluster, provisioned: ElasticIP): Promise<ElasticIP | undefined> {
  const { name } = provisioned.metadata
  try {
    return await forElasticIPs('create', client.create(elasticIPs, provisioned))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const found = await client.get(elasticIPs, { name })
    const isSame =
      found !== undefined &&
      isSource(found) &&
      found.spec.reservationID === provisioned.spec.reservationID &&
      found.spec.claimRef?.namespace === provisioned.spec.claimRef?.namespace &&
      found.spec.claimRef?.name === provisioned.spec.claimRef?.name
    if (!isSame) throw new Refusal(`there is another ElasticIP ${name}; choose another name with --name`)
    return undefined
  }
}

type Claim = { namespace: string; name: string }

/**
 * Names the only Service that may claim the address of a provisioned ElasticIP. A claimRef cannot change its Service,
 * so it is removed first. Meanwhile no namespace is allowed, even if this process is killed: otherwise anyone could
 * claim the address.
 */
async function setClaim({ client }: Cluster, record: ElasticIP, claimRef: Claim): Promise<ElasticIP> {
  const { name, resourceVersion } = record.metadata
  const { allowedNamespaces: allowed } = record.spec
  const write = (version: string | undefined, { before, spec }: { before: string | null; spec: object }) => {
    const metadata = { resourceVersion: version, annotations: { [allowedBeforeMoveAnnotation]: before } }
    return forElasticIPs('patch', client.patch(elasticIPs, { name, patch: { merge: { metadata, spec } } }))
  }
  const isOther = ![undefined, `${claimRef.namespace}/${claimRef.name}`].includes(claimKey(record))
  let isClosed = false
  try {
    const closed = isOther
      ? await write(resourceVersion, {
          before: allowed?.join(',') ?? all,
          spec: { claimRef: null, allowedNamespaces: [] },
        })
      : undefined
    isClosed = closed !== undefined
    // This fails if anyone has changed it in between.
    const version = closed?.metadata.resourceVersion ?? resourceVersion
    return await write(version, { before: null, spec: { claimRef, allowedNamespaces: allowed ?? null } })
  } catch (error) {
    const isRace = isConflict(error)
    if (!isRace && !isClosed) throw error
    const reason = isRace ? 'has just changed' : `could not be changed: ${String(error)}`
    const state = isClosed
      ? 'No Service can claim it until you repeat this command'
      : 'Check it, and run this command again'
    throw new Refusal(`ElasticIP ${name} ${reason}. ${state}`)
  }
}

const all = '*'

/**
 * An ElasticIP with the namespaces that it allowed before an interrupted move closed it. A person's later change stays.
 */
function asBeforeMove(record: ElasticIP): ElasticIP {
  const before = record.metadata.annotations?.[allowedBeforeMoveAnnotation]
  if (before === undefined || record.spec.allowedNamespaces?.length !== 0) return record
  const { allowedNamespaces: _closed, ...spec } = record.spec
  return { ...record, spec: before === all ? spec : { ...spec, allowedNamespaces: before.split(',') } }
}
