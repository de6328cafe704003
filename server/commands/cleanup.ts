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

type Environment = { version: string; print: (text: string) => void }

/** Takes away whatever of ours could block the cluster once the process is gone. Addresses stay reserved, and are listed. */
export async function cleanup({ kubeconfig: file, yes }: CleanupSettings, world: Environment): Promise<void> {
  const { print } = world
  const client = connect(kubeconfig({ file }), { userAgent: `eip-admission/${world.version}` })
  const held = (await listAll(client, services)).filter((service) => has(service, serviceFinalizer))
  const records = (await unlessUnknown(listAll(client, elasticIPs))).filter((record) => has(record, recordFinalizer))
  const say = (text: string) => print(`${yes ? '' : 'would be '}${text}\n`)

  const { mutatingConfiguration: mutating, validatingConfiguration: validating } = names
  for (const resource of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    const name = resource === mutatingWebhookConfigurations ? mutating : validating
    if (yes) await client.remove(resource, { name })
    say(`deleted: ${resource.kind} ${name}`)
  }
  for (const service of held) {
    if (yes) await letGo(client, services, { object: service, finalizer: serviceFinalizer })
    say(`released from our finalizer: Service ${keyOf(service)}`)
  }
  for (const record of records) {
    if (yes) await letGo(client, elasticIPs, { object: record, finalizer: recordFinalizer })
    say(`released from our finalizer: ElasticIP ${keyOf(record)}`)
  }
  print(remaining(records))
  if (!yes) print('Nothing was changed. Stop every `eip-admission serve` first, then repeat this with --yes.\n')
}

/** Where the kind was never installed, or is gone already, there is nothing of it. */
async function unlessUnknown<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

function has({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}

async function letGo<T extends Service | ElasticIP>(
  client: KubeClient,
  resource: Resource<T>,
  { object, finalizer }: { object: T; finalizer: string },
): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata
  const merge = { metadata: { resourceVersion, finalizers: finalizers.filter((name) => name !== finalizer) } }
  const at = resource.namespaced ? splitKey(keyOf(object)) : { name: object.metadata.name }
  await client.patch(resource, { ...at, patch: { merge } })
}

function remaining(records: ElasticIP[]): string {
  const reserved = records.flatMap(({ metadata, status }) =>
    status?.reservationID
      ? [`  ${status.address ?? 'no address yet'}  ${metadata.name}  ${status.reservationID}\n`]
      : [],
  )
  if (reserved.length === 0) return 'No address stays reserved.\n'
  return `Still reserved in the cloud, and paid for (address, ElasticIP, reservation):\n${reserved.join('')}`
}
