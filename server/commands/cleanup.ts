import type { KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { isNotFound } from '../../kube/errors.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { listAll } from '../../kube/list-all.ts'
import { type KubeObject, type Service, keyOf, splitKey } from '../../kube/objects.ts'
import {
  type Resource,
  mutatingWebhookConfigurations,
  services,
  validatingWebhookConfigurations,
} from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs, recordFinalizer } from '../../ledger/record/elastic-ip.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import { names } from '../../manifests/names.ts'
import type { CleanupSettings } from '../settings/commands.ts'
import type { CommandDeps } from './command-deps.ts'

/** A change that cleanup makes, and its line of output before and after it is made. */
type Change = { planned: string; done: string; make: () => Promise<void> }

/**
 * Removes everything of ours that could block the cluster without our process: webhook configurations and finalizers.
 * Reservations stay, and are listed.
 */
export async function cleanup({ kubeconfig: file, yes }: CleanupSettings, deps: CommandDeps): Promise<void> {
  const { print, version } = deps
  const client = connect(kubeconfig({ file }), { userAgent: `eip-admission/${version}` })
  const held = (await listAll(client, services)).filter((service) => hasFinalizer(service, serviceFinalizer))
  const records = (await emptyIfUnknown(listAll(client, elasticIPs))).filter((record) =>
    hasFinalizer(record, recordFinalizer),
  )
  const changes = [
    ...webhookDeletions(client),
    ...held.map((object) => finalizerRemoval(client, services, { object, finalizer: serviceFinalizer })),
    ...records.map((object) => finalizerRemoval(client, elasticIPs, { object, finalizer: recordFinalizer })),
  ]
  for (const { planned, done, make } of changes) {
    if (yes) await make()
    print(`${yes ? done : planned}\n`)
  }
  print(reservationsLeft(records))
  print(yes ? afterwards : instructions)
}

const instructions =
  'Nothing was changed. To make these changes, first stop every `eip-admission serve`, then run ' +
  '`eip-admission cleanup --yes`.\n'

const afterwards =
  'Nothing of eip-admission blocks the cluster any more. To remove the records too, run ' +
  '`kubectl delete customresourcedefinition elasticips.eip-admission.dev`.\n'

function webhookDeletions(client: KubeClient): Change[] {
  const { mutatingConfiguration, validatingConfiguration } = names
  const deletion = (resource: Resource<KubeObject>, name: string): Change => ({
    planned: `would delete ${resource.kind} ${name}`,
    done: `deleted ${resource.kind} ${name}`,
    make: () => client.remove(resource, { name }),
  })
  return [
    deletion(mutatingWebhookConfigurations, mutatingConfiguration),
    deletion(validatingWebhookConfigurations, validatingConfiguration),
  ]
}

function finalizerRemoval<T extends Service | ElasticIP>(
  client: KubeClient,
  resource: Resource<T>,
  { object, finalizer }: { object: T; finalizer: string },
): Change {
  const what = `the finalizer ${finalizer} from ${resource.kind} ${keyOf(object)}`
  return {
    planned: `would remove ${what}`,
    done: `removed ${what}`,
    make: () => removeFinalizer(client, resource, { object, finalizer }),
  }
}

/** An empty list if the API server does not know the kind: it was never installed, or is deleted already. */
async function emptyIfUnknown<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}

async function removeFinalizer<T extends Service | ElasticIP>(
  client: KubeClient,
  resource: Resource<T>,
  { object, finalizer }: { object: T; finalizer: string },
): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata
  const merge = { metadata: { resourceVersion, finalizers: finalizers.filter((name) => name !== finalizer) } }
  const at = resource.namespaced ? splitKey(keyOf(object)) : { name: object.metadata.name }
  await client.patch(resource, { ...at, patch: { merge } })
}

function reservationsLeft(records: ElasticIP[]): string {
  const reserved = records.flatMap(({ metadata, status }) =>
    status?.reservationID
      ? [`  ${status.address ?? 'no address yet'}  ${metadata.name}  ${status.reservationID}\n`]
      : [],
  )
  if (reserved.length === 0) return 'No address stays reserved.\n'
  return (
    'These addresses stay reserved, and the project pays for them until you delete their reservations at the cloud ' +
    `(address, ElasticIP, reservation):\n${reserved.join('')}`
  )
}
