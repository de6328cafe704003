import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import type { LedgerMap } from '../identity/ledger-map.ts'

/*
 * An orphan has no record, so only the tags of the cloud name it until it is released. A predecessor releases nothing
 * that it did not see deleted, so an operator who goes back to one must know what is left.
 */

/** An orphan, as the last sweep saw it. */
export type ListedOrphan = Pick<Reservation, 'id' | 'address'>

/** The ConfigMap is no place for more. */
const maxListed = 100

/** Writes into the ledger's ConfigMap which orphans a sweep sees, where they are others than before. */
export async function listOrphans(
  map: LedgerMap,
  orphans: readonly ListedOrphan[],
  signal: AbortSignal,
): Promise<void> {
  const stored = await map.read(signal)
  const lines = orphans.slice(0, maxListed).map(({ id, address = '' }) => `${id} ${address}`.trim())
  const text = lines.length > 0 ? lines.toSorted().join('\n') : undefined
  if (text !== stored?.data?.['orphans']) await map.change(stored, { orphans: text }, signal)
}

/** The orphans that the ledger's ConfigMap names. */
export function listedOrphans(map: ConfigMap | undefined): ListedOrphan[] {
  const lines = (map?.data?.['orphans'] ?? '').split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [id = '', address] = line.split(' ')
    return { id, address }
  })
}
