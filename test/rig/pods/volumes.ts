// Secrets as files, replaced all at once, as the kubelet does.
import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeClient } from '../../../kube/client.ts'
import { secrets } from '../../../kube/resource.ts'
import type { Pod } from './pod.ts'

export type Volumes = {
  /** The folder of each volume. */
  folders: Record<string, string>
  /** Reads the Secrets again. Throws if one is absent that the pod cannot start without. */
  update(): Promise<void>
}

/** The volumes of a pod below a folder. */
export function podVolumes(client: KubeClient, pod: Pod, below: string): Volumes {
  const { namespace = '' } = pod.metadata
  const volumes = pod.spec.volumes ?? []
  const folders = Object.fromEntries(volumes.map(({ name }) => [name, join(below, name)]))
  const versions = new Map<string, string | undefined>()
  const update = async () => {
    for (const { name, secret } of volumes) {
      if (!secret) continue
      const folder = folders[name] ?? ''
      mkdirSync(folder, { recursive: true })
      const stored = await client.get(secrets, { namespace, name: secret.secretName })
      if (!stored && !secret.optional) throw new Error(`Secret ${secret.secretName} does not exist`)
      const version = stored?.metadata.resourceVersion
      if (versions.get(name) === version) continue
      versions.set(name, version)
      // The files of an optional Secret disappear with it.
      exchange(folder, { version: `..${version ?? `none-${Date.now()}`}`, data: stored?.data ?? {} })
    }
  }
  return { folders, update }
}

/** Writes a new version of the files beside the old one, exchanges the link to them, and removes the old one. */
function exchange(folder: string, { version, data }: { version: string; data: Record<string, string> }): void {
  mkdirSync(join(folder, version))
  for (const [name, content] of Object.entries(data))
    writeFileSync(join(folder, version, name), Buffer.from(content, 'base64'))
  const before = linkIn(folder)
  symlinkSync(version, join(folder, '..data_tmp'))
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
  if (before !== undefined) rmSync(join(folder, before), { recursive: true })
  const present = readdirSync(folder)
  for (const name of Object.keys(data).filter((file) => !present.includes(file)))
    symlinkSync(join('..data', name), join(folder, name))
}

function linkIn(folder: string): string | undefined {
  try {
    return readlinkSync(join(folder, '..data'))
  } catch {
    return undefined
  }
}
