import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../kube/clock.ts'
import { isForbidden } from '../kube/errors.ts'
import { isOwnIdentity } from '../kube/lease-holder.ts'
import { listAll } from '../kube/list-all.ts'
import { keyOf } from '../kube/objects.ts'
import { leases, nodeLeaseNamespace, services } from '../kube/resource.ts'
import { names } from '../settings/installed-names.ts'
import { heldOf, readRecords } from './cleanup-changes.ts'

/** When each lease that one of our processes holds was renewed last. */
export type Renewals = ReadonlyMap<string, string | undefined>

/** Reads which of our processes leads. The Job of the chart may not know, and no process of ours has rights when it runs. */
export async function readRenewals(client: KubeClient): Promise<Renewals> {
  try {
    const all = await listAll(client, leases, { fieldSelector: `metadata.namespace!=${nodeLeaseNamespace}` })
    const held = all
      // A guardian writes no finalizer.
      .filter(({ metadata }) => metadata.name !== names.controlPlaneLease)
      .filter(({ spec }) => isOwnIdentity(spec?.holderIdentity ?? ''))
    return new Map(held.map((lease) => [keyOf(lease), lease.spec?.renewTime]))
  } catch (error) {
    if (isForbidden(error)) return new Map()
    throw error
  }
}

/** A leader renews its lease every 2 seconds, and adds a finalizer again within them. */
const lookAgainMs = 5_000

/** Looks once more, and says what shows that a `serve` still runs. By then it has done something. */
export async function returnedText(
  client: KubeClient,
  { renewals, clock }: { renewals: Renewals; clock: Pick<Clock, 'sleep'> },
): Promise<string | undefined> {
  await clock.sleep(lookAgainMs)
  const [all, records, now] = await Promise.all([listAll(client, services), readRecords(client), readRenewals(client)])
  const held = heldOf(all, records)
  const signs = [
    ...[...now].flatMap(([lease, at]) => (renewals.get(lease) === at ? [] : [`lease ${lease} was renewed`])),
    ...held.services.map((service) => `Service ${keyOf(service)} has a finalizer`),
    ...held.records.map((record) => `ElasticIP ${keyOf(record)} has a finalizer`),
  ]
  if (signs.length === 0) return undefined
  const shown = signs.slice(0, 10)
  const more = signs.length > shown.length ? `  and ${signs.length - shown.length} more\n` : ''
  return (
    `an \`eip-admission serve\` still runs, and adds finalizers again:\n${shown.map((sign) => `  ${sign}\n`).join('')}${more}` +
    'Stop every `eip-admission serve`, then run `eip-admission cleanup --yes` again.'
  )
}
