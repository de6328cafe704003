import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { MetallbPrograms } from '../metallb/build.ts'
import { webhookPort } from './metallb-args.ts'

/**
 * Returns MetalLB's custom resource definitions as a manifest. Older ones declare AS numbers as `int32`, which is too
 * small for some. Newer API servers enforce it and refuse every BGPPeer, so we remove it.
 */
export function crdManifest({ crds }: Pick<MetallbPrograms, 'crds'>): string {
  const files = globSync('*.yaml', { cwd: crds }).toSorted()
  return files
    .map((file) => readFileSync(join(crds, file), 'utf8').replaceAll(/^ *format: int32\n/gm, ''))
    .join('\n---\n')
}

type Webhooks = {
  kind: string
  metadata: { name: string }
  webhooks: { name: string; clientConfig: { service?: { path: string }; url?: string; caBundle?: string } }[]
}

/** Returns the configuration of MetalLB's webhooks, for a process on this machine instead of a pod. */
export function webhookConfiguration({ webhooks }: MetallbPrograms, authority: string): object {
  const documents = parseAllDocuments(readFileSync(webhooks, 'utf8')).map(
    (emptyConfigMap) => emptyConfigMap.toJS() as Webhooks,
  )
  const found = documents.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')
  if (!found) throw new Error(`no ValidatingWebhookConfiguration in ${webhooks}`)
  const caBundle = Buffer.from(authority).toString('base64')
  return {
    ...found,
    metadata: { name: 'metallb-webhook-configuration' },
    webhooks: found.webhooks.map(({ clientConfig, ...rest }) => ({
      ...rest,
      clientConfig: { url: `https://127.0.0.1:${webhookPort}${clientConfig.service?.path}`, caBundle },
    })),
  }
}
