import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { type KubeObject, keyOf } from '../../kube/objects.ts'
import { installObjects } from '../../manifests/install.ts'
import { customResourceDefinitions, resourceOf } from '../../manifests/resources.ts'
import { webhookIdentities } from '../../webhooks/identities.ts'
import { newPathSecret, readPathSecret } from '../path-secret.ts'
import type { InstallSettings } from '../settings/commands.ts'

type Environment = { version: string; print: (text: string) => void }

const fieldManager = 'eip-admission-install'

/** Installs what the cluster needs, by server-side apply: again and again without harm. */
export async function install(settings: InstallSettings, { version, print }: Environment): Promise<void> {
  const { namespace, leaseNamespace, webhookUrl: url, metallbConfigMap } = settings
  const objects = (pathSecret: string) =>
    installObjects({ namespace, leaseNamespace, metallbConfigMap, url, pathSecret, webhooks: webhookIdentities })
  if (settings.dryRun)
    return print(
      objects(newPathSecret())
        .map((object) => stringify(object))
        .join('---\n'),
    )
  const client = connect(kubeconfig({ file: settings.kubeconfig }), { userAgent: `eip-admission/${version}` })
  const pathSecret = (await readPathSecret(client, namespace)) ?? newPathSecret()
  for (const object of objects(pathSecret)) {
    await client.apply(resourceOf(object), object, { fieldManager })
    if (object.kind === customResourceDefinitions.kind) await established(client, object)
    print(`${object.kind} ${keyOf(object)} applied\n`)
  }
}

/** Until a definition is established the API server does not know the kind. */
async function established(client: KubeClient, { metadata: { name } }: KubeObject): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    const definition = await client.get(customResourceDefinitions, { name })
    if (definition?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return
    await sleep(200)
  }
  throw new Error(`CustomResourceDefinition ${name}: not established after 30 s; kubectl describe crd ${name} says why`)
}
