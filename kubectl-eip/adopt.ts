import { isAlreadyExists } from '../kube/errors.ts'
import { keyOf, splitKey } from '../kube/objects.ts'
import { type ElasticIP, elasticIPs, phaseOf, reservationIdOf } from '../ledger/record/elastic-ip.ts'
import { elasticIPAnnotation } from '../ledger/record/names.ts'
import { canonicalIpAddress } from '../lib/ip-address.ts'
import { hashForName, isDnsName } from '../lib/names.ts'
import { type Io, Refusal, untilSettled } from './io.ts'
import { type Cluster, forElasticIPs, listRecords } from './reader.ts'
import { keyOfService } from './why.ts'

export type AdoptOptions = {
  /** The id of a reservation, or its address. */
  what: string
  name?: string | undefined
  /** The only Service that may have the address. */
  service?: string | undefined
  /** The namespaces whose Services may have it. */
  allowed: string[]
  waitMs: number
}

/** Makes an address that the project already has available, by writing an ElasticIP for its reservation. */
export async function adopt(cluster: Cluster, options: AdoptOptions, io: Io): Promise<void> {
  const record = newProvisioned(options, { all: await listRecords(cluster), namespace: cluster.namespace })
  await createRecord(cluster, record)
  const found = await awaitAvailable(cluster, record, options.waitMs)
  if (found && isClaimable(found)) return io.print(availableText(found))
  const { name: created } = record.metadata
  const reason = found?.status?.message ?? 'eip-admission has not looked at it yet; is it running? `kubectl eip status`'
  throw new Refusal(
    `ElasticIP ${created} is created, but not available: ${reason}\nIf the id or the name is wrong, remove it: \`kubectl delete eip ${created}\``,
  )
}

/** The ElasticIP to create; throws a Refusal if there can be none. Pure. */
export function newProvisioned(
  { what, name, service, allowed }: Omit<AdoptOptions, 'waitMs'>,
  { all, namespace }: { all: readonly ElasticIP[]; namespace: string },
): ElasticIP {
  const address = canonicalIpAddress(what)
  const known = all.find((record) =>
    address === undefined
      ? reservationIdOf(record) === what
      : canonicalIpAddress(record.status?.address ?? '') === address,
  )
  if (known) throw new Refusal(`${what} belongs to ElasticIP ${known.metadata.name} already (${phaseOf(known)})`)
  if (address !== undefined) {
    throw new Refusal(
      `no ElasticIP has ${what}. eip-admission finds a reservation by its id: look that up in the console of the provider, ` +
        'and run this command with the id',
    )
  }
  if (!/^[\w.:-]{1,128}$/.test(what)) throw new Refusal(`${JSON.stringify(what)} is not the id of a reservation`)
  const claim = service === undefined ? undefined : splitKey(keyOfService(service, namespace))
  if (claim && allowed.length > 0 && !allowed.includes(claim.namespace)) {
    throw new Refusal(
      `Service ${keyOf({ metadata: claim })} could not have it: --allow names ${allowed.join(', ')} alone. ` +
        `Add ${claim.namespace} to --allow, or leave --allow out`,
    )
  }
  return provisionedRecord(name ?? `adopted-${hashForName(what, 8)}`, {
    reservationID: what,
    reclaimPolicy: 'Retain',
    ...(claim && { claimRef: { namespace: claim.namespace, name: claim.name } }),
    ...(allowed.length > 0 && { allowedNamespaces: allowed }),
  })
}

/** A provisioned ElasticIP. Its name must have no dot: it could be mistaken for the record of a Service. */
export function provisionedRecord(name: string, spec: ElasticIP['spec']): ElasticIP {
  if (!isDnsName(name) || name.includes('.'))
    throw new Refusal(`${JSON.stringify(name)} cannot be the name: use small letters, digits and hyphens`)
  return { apiVersion: elasticIPs.apiVersion as ElasticIP['apiVersion'], kind: 'ElasticIP', metadata: { name }, spec }
}

/** Creates an ElasticIP; throws a Refusal if another one has its name. */
async function createRecord({ client }: Cluster, record: ElasticIP): Promise<void> {
  try {
    await forElasticIPs('create', client.create(elasticIPs, record))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    throw new Refusal(`there is an ElasticIP ${record.metadata.name} already; choose another name with --name`)
  }
}

/** Waits until Services can claim the address of an ElasticIP, or it is deleted; returns the last state. */
export async function awaitAvailable(
  { client }: Cluster,
  { metadata: { name } }: ElasticIP,
  waitMs: number,
): Promise<ElasticIP | undefined> {
  return untilSettled(waitMs, async () => {
    const now = await forElasticIPs('get', client.get(elasticIPs, { name }))
    return { now, isSettled: now === undefined || isClaimable(now) }
  })
}

/** Whether an address can be claimed, or its Service has already claimed it. */
export function isClaimable(record: ElasticIP): boolean {
  return ['Available', 'Bound'].includes(phaseOf(record))
}

/** Tells which Service gets an available address, and how. */
export function availableText({ metadata: { name }, spec: { claimRef }, status }: ElasticIP): string {
  const who = claimRef ? `Service ${claimRef.namespace}/${claimRef.name}` : 'A Service'
  return `ElasticIP ${name} has ${status?.address}. ${who} gets it with the annotation ${elasticIPAnnotation}: ${name}\n`
}
