// Leases are renewed while other calls hold every connection of the client. The API server is scripted, the cloud simulated.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serveSettings } from '../../commands/settings/serve.ts'
import type { Lease } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { type Base, createBase } from '../../server/base.ts'
import { controlPlaneGuardian } from '../../server/control-plane/control-plane-guardian.ts'
import { leadership } from '../../server/leadership.ts'
import { type Respond, sendJson, sendStatus, withServer } from '../kube/scripted-server.ts'
import { eventually } from '../whole/eventually.ts'
import { dialectOf } from '../whole/dialects.ts'

const tag = 'k8s=cp'
const dir = mkdtempSync(join(tmpdir(), 'busy-client-'))
const { cloud, project, token } = await dialects['cherry-servers'].open()
await dialectOf('cherry-servers').order({ url: cloud.url, project, token }, [tag])

/** An API server that has leases, empty lists and quiet watches, and answers no other call. */
function quietServer(): { respond: Respond; renewals: Map<string, number>; hanging: () => number } {
  const leases = new Map<string, Lease>()
  const renewals = new Map<string, number>()
  let hanging = 0
  const respond: Respond = ({ method, path, query, body }, response) => {
    const name = path.split('/').at(-1) ?? ''
    if (path.includes('/leases')) {
      if (method === 'GET' && !leases.has(name))
        return sendStatus(response, 404, { reason: 'NotFound', details: { name } })
      if (method === 'GET') return sendJson(response, leases.get(name))
      const lease = body as Lease
      leases.set(lease.metadata.name, lease)
      renewals.set(lease.metadata.name, (renewals.get(lease.metadata.name) ?? 0) + 1)
      return sendJson(response, lease)
    }
    if (name === 'held') hanging += 1
    else if (query.watch) response.writeHead(200).flushHeaders()
    else if (method === 'GET') sendJson(response, { metadata: { resourceVersion: '1' }, items: [] })
  }
  return { respond, renewals, hanging: () => hanging }
}

async function baseFor(url: string, signal: AbortSignal): Promise<Base> {
  const kubeconfig = join(dir, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'k', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: '5ecret' } }],
    contexts: [{ name: 'here', context: { cluster: 'k', user: 'u' } }],
    'current-context': 'here',
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  const env = { CHERRY_API_KEY: token, CHERRY_PROJECT_ID: project, CHERRY_FIP_TAG: tag }
  const flags = {
    '--cloud-provider': 'cherryservers',
    '--kubeconfig': kubeconfig,
    '--base-url': cloud.url,
  }
  const endAtOnce = (reason: string) => assert.unreachable(reason)
  return createBase(serveSettings({ flags, env }), { env, version: '0', signal, endAtOnce })
}

test('leases are renewed while 32 calls hold every connection of the client', async () => {
  const { respond, renewals, hanging } = quietServer()
  await withServer(respond, async ({ url }) => {
    const stop = new AbortController()
    const base = await baseFor(url, stop.signal)
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
  rmSync(dir, { recursive: true })
})

test.run()
