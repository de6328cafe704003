import type { ControllerDeclaration } from '../../controllers/controller.ts'
import { manifest, manifestKey } from '../../controllers/manifest.ts'
import { names } from '../../manifests/names.ts'
import type { Dependencies } from '../dependencies.ts'
import { readManifest } from '../manifest-file.ts'

type Deps = Pick<Dependencies, 'client' | 'settings' | 'log'>

/** Installs the announcing software where the operator set its manifest. */
export function manifestController({ client, settings, log }: Deps): ControllerDeclaration[] {
  const { loadBalancerManifest: path } = settings.cluster
  if (path === undefined) return []
  const account = `${settings.process.namespace}:${names.serviceAccount}`
  return [
    {
      reconciler: manifest({ client, read: () => readManifest(path), file: path, account, log }),
      keys: () => [manifestKey],
      retry: { firstMs: 1000, maxMs: 300_000 },
    },
  ]
}
