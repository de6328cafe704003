import { isConflict } from '../kube/errors.ts'
import { type ElasticIP, claimKey, elasticIPs } from '../ledger/record/elastic-ip.ts'
import { allowedBeforeMoveAnnotation } from '../ledger/record/names.ts'
import { Refusal } from './io.ts'
import { type Cluster, forElasticIPs } from './reader.ts'

type Claim = { namespace: string; name: string }

/**
 * Names the only Service that may claim the address of a provisioned ElasticIP. A claimRef cannot change its Service, so it
 * goes first. Meanwhile no namespace is allowed, also if this process is killed: else anybody could claim the address.
 */
export async function setClaim({ client }: Cluster, record: ElasticIP, claimRef: Claim): Promise<ElasticIP> {
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
    // Whoever has changed it in between makes this fail.
    const version = closed?.metadata.resourceVersion ?? resourceVersion
    return await write(version, { before: null, spec: { claimRef, allowedNamespaces: allowed ?? null } })
  } catch (error) {
    const isRace = isConflict(error)
    if (!isRace && !isClosed) throw error
    const reason = isRace ? 'has changed in this moment' : `could not be changed: ${String(error)}`
    const state = isClosed ? 'No Service can claim it until you repeat this command' : 'Look at it, and run this again'
    throw new Refusal(`ElasticIP ${name} ${reason}. ${state}`)
  }
}

const all = '*'

/** An ElasticIP with what it allowed before an interrupted move closed it; what a person has allowed since stays. */
export function asBeforeMove(record: ElasticIP): ElasticIP {
  const before = record.metadata.annotations?.[allowedBeforeMoveAnnotation]
  if (before === undefined || record.spec.allowedNamespaces?.length !== 0) return record
  const { allowedNamespaces: _closed, ...spec } = record.spec
  return { ...record, spec: before === all ? spec : { ...spec, allowedNamespaces: before.split(',') } }
}
