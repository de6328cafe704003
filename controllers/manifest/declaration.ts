import type { ControllerDeclaration } from '../loop/controller.ts'
import { manifest, manifestKey } from './manifest.ts'
import type { Dependencies } from '../dependencies.ts'
import { readManifest } from '../../kube/manifest-file.ts'

type Deps = Pick<Dependencies, 'client' | 'settings' | 'log'>

/** Installs the announcing software where the operator set its manifest. */
export function manifestController({ client, settings, log }: Deps): ControllerDeclaration[] {
  const { loadBalancerManifest: path } = settings.cluster
  if (path === undefined) return []
  return [
    {
      reconciler: manifest({ client, read: () => readManifest(path), file: path, log }),
      keys: () => [manifestKey],
      retry: { firstMs: 1000, maxMs: 300_000 },
    },
  ]
}
