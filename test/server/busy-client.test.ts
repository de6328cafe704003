// Leases are renewed while other calls hold every connection of the client. The API server is scripted, the cloud simulated.
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { configMaps } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { controlPlaneGuardian } from '../../controllers/control-plane/control-plane-guardian.ts'
import { leadership } from '../../server/leadership.ts'
import { withServer } from '../kube/scripted-server.ts'
import { eventually } from '../whole/eventually.ts'
import { dialectOf } from '../whole/dialects.ts'
import { baseWith, kubeconfigs, quietServer } from './quiet-server.ts'

const tag = 'k8s=cp'
const kubeconfig = kubeconfigs()
const { cloud, project, token } = await dialects['cherry-servers'].open()
await dialectOf('cherry-servers').order({ url: cloud.url, project, token }, [tag])

test('leases are renewed while 32 calls hold every connection of the client', async () => {
  const { respond, renewals, hanging } = quietServer()
  await withServer(respond, async ({ url }) => {
    const stop = new AbortController()
    const base = await baseWith({
      flags: { '--cloud-provider': 'cherryservers', '--kubeconfig': kubeconfig.for(url), '--base-url': cloud.url },
      env: { CHERRY_API_KEY: token, CHERRY_PROJECT_ID: project, CHERRY_FIP_TAG: tag },
      signal: stop.signal,
    })
    const leader = leadership(base, async (signal) => void (await once(signal, 'abort')))
    const guardian = controlPlaneGuardian(base)
    const running = Promise.all([leader.run(stop.signal), guardian?.run(stop.signal)])
    const options = { signal: stop.signal, timeoutMs: 600_000 }
    const hold = () => base.client.get(configMaps, { namespace: 'default', name: 'held' }, options)
    try {
      await eventually('both lead', () => (leader.isLeader() && guardian?.facts().isLeader) || undefined)
      const held = Promise.allSettled(Array.from({ length: 40 }, hold))
      await eventually('32 calls hang', (observe) => observe(hanging()) === 32 || undefined)
      const before = [...renewals]
      assert.is(before.length, 2)
      await eventually('each lease is renewed twice', (observe) => {
        const now = observe(new Map(renewals))
        return before.every(([name, count]) => (now.get(name) ?? 0) >= count + 2) || undefined
      })
      stop.abort()
      await held
    } finally {
      stop.abort()
      await running
    }
  })
})

test.after(async () => {
  await cloud.close()
  kubeconfig.remove()
})

test.run()
