import { runController } from '../../controllers/controller.ts'
import { manifest, manifestKey } from '../../controllers/manifest.ts'
import { queue } from '../../kube/queue.ts'
import { names } from '../../manifests/names.ts'
import { readManifest } from '../manifest-file.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** Installs the announcing software, where a person has given its manifest. */
export function manifests(deps: Dependencies): Controller {
  const { client, log, settings } = deps
  const { loadBalancerManifest: path } = settings.cloud.settings
  if (path === undefined) return { run: () => Promise.resolve() }
  const keys = queue({ firstMs: 1000, maxMs: 300_000, log })
  return {
    async run(signal) {
      // Read when the settings were, but we may lead much later.
      const { objects, wrong } = readManifest(path)
      if (!objects) return log.error({ file: path, error: wrong }, 'the load balancer manifest is not applied')
      const account = `${settings.process.namespace}:${names.serviceAccount}`
      keys.add(manifestKey)
      await runController(
        { ...said(deps), queue: keys, reconciler: manifest({ client, objects, account, log }) },
        signal,
      )
    },
  }
}
