import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ControlPlane } from './control-plane/start.ts'
import { kubectlOf } from './kubectl.ts'

export type ServiceAccountFiles = {
  folder: string
  /** Requests another token and replaces the files, as the kubelet does about every hour. */
  rotate(): Promise<void>
}

/** The files of a service account as the kubelet mounts them, with a token from the API server. */
export async function serviceAccountFiles(
  controlPlane: ControlPlane,
  { namespace, name }: { namespace: string; name: string },
): Promise<ServiceAccountFiles> {
  const folder = join(controlPlane.dir, `account-${name}`)
  const kubectl = kubectlOf(controlPlane)
  const admin = JSON.parse(readFileSync(controlPlane.kubeconfig, 'utf8')) as {
    clusters: { cluster: { 'certificate-authority-data': string } }[]
  }
  const authority = Buffer.from(admin.clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64')
  let version = 0
  const rotate = async () => {
    const { code, stdout, stderr } = await kubectl(['create', 'token', name, '-n', namespace])
    if (code !== 0) throw new Error(stderr)
    version += 1
    const data = join(folder, `..${version}`)
    mkdirSync(data, { recursive: true })
    const files = { token: stdout.trim(), 'ca.crt': authority, namespace }
    for (const [file, content] of Object.entries(files)) writeFileSync(join(data, file), content)
    // A single rename replaces all files at once.
    symlinkSync(`..${version}`, join(folder, '..data-new'))
    renameSync(join(folder, '..data-new'), join(folder, '..data'))
    rmSync(join(folder, `..${version - 1}`), { recursive: true, force: true })
  }
  await rotate()
  for (const file of ['token', 'ca.crt', 'namespace']) symlinkSync(`..data/${file}`, join(folder, file))
  return { folder, rotate }
}
