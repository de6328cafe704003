import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { serveSettings } from '../../commands/settings/serve.ts'
import type { KubeObject, Lease } from '../../kube/objects.ts'
import { type Base, createBase } from '../../server/base.ts'
import { type Respond, sendJson, sendStatus } from '../kube/scripted-server.ts'

type QuietServer = {
  respond: Respond
  /** How often each lease was written. */
  renewals: Map<string, number>
  /** How many calls about the object `held` came; none is answered. */
  hanging: () => number
}

/** An API server that has leases, quiet watches and lists of the given objects, by plural, and answers no other call. */
export function quietServer(lists: Record<string, KubeObject[]> = {}): QuietServer {
  const leases = new Map((lists['leases'] ?? []).map((lease) => [lease.metadata.name, lease as Lease]))
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
    else if (method === 'GET') sendJson(response, { metadata: { resourceVersion: '1' }, items: lists[name] ?? [] })
  }
  return { respond, renewals, hanging: () => hanging }
}

/** A folder with kubeconfigs, until the file's tests have run. */
export function kubeconfigs(): { dir: string; for: (url: string) => string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'kubeconfigs-'))
  return {
    dir,
    for(url) {
      const file = join(dir, 'kubeconfig')
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'k', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: { token: '5ecret' } }],
        contexts: [{ name: 'here', context: { cluster: 'k', user: 'u' } }],
        'current-context': 'here',
      }
      writeFileSync(file, JSON.stringify(config))
      return file
    },
    remove: () => rmSync(dir, { recursive: true }),
  }
}

type BaseOptions = { flags: Record<string, string>; env: Record<string, string>; signal: AbortSignal }

/** The parts of a process with these flags and this environment, in our own process. */
export function baseWith({ flags, env, signal }: BaseOptions): Promise<Base> {
  const endAtOnce = (reason: string) => assert.unreachable(reason)
  return createBase(serveSettings({ flags, env }), { env, version: '0', signal, endAtOnce })
}
