import { type Base, createBase } from './base.ts'
import { controlPlaneGuardian } from '../controllers/control-plane/control-plane-guardian.ts'
import type { ServeSettings } from '../commands/settings/serve.ts'
import { guardianChecks } from './health-checks.ts'
import { guardianFacts } from './status-page-facts.ts'
import { makeStatusPage, showOnLoopback } from './shown-page.ts'
import type { ServeDeps } from '../commands/command-deps.ts'
import { once } from 'node:events'
import { nodeHttp } from '../lib/node-http.ts'
import { type HealthOptions, answerHealth } from './listeners/health.ts'
import { type Address, portOpener } from './listeners/open-port.ts'
import type { Log } from '../kube/log.ts'

/** Runs only the guardian of the control-plane address, until the signal aborts and all work has ended. */
export async function serveControlPlane(settings: ServeSettings, deps: ServeDeps): Promise<void> {
  const { signal, version } = deps
  const base = await createBase(settings, deps)
  const { log, metrics, events, vendor, identity, reload } = base
  const guardian = controlPlaneGuardian(base)
  if (guardian === undefined) throw new Error(`--only=control-plane: there is nothing to guard; ${remedyFor(vendor)}`)
  log.info(
    { version, identity, cloud: vendor.cloud.name, node: settings.process.nodeName },
    'guarding the control-plane address',
  )
  const { bindAddress: host, securePort: port } = settings.process
  const checks = guardianChecks(base, guardian)
  const health = await openPlainHealth({ host, port }, { ...checks, metrics: () => metrics.text(), log })
  // The health port has no TLS here, so a token could be read on its way.
  const page = makeStatusPage(base, () => guardianFacts(base, guardian, checks))
  const running = new AbortController()
  const working = AbortSignal.any([signal, running.signal])
  showOnLoopback(base, page, working)
  reload?.start(working)
  try {
    await guardian.run(working)
    await events.written()
    log.info({ identity }, 'stopped')
  } finally {
    // These would keep a process alive whose guardian has failed.
    running.abort()
    await health.close()
  }
}

function remedyFor({ assignments, cloud, managedBalancers }: Base['vendor']): string {
  if (assignments || managedBalancers) return 'set the tag of the control-plane address'
  return `${cloud.name} does not move addresses between machines, so have one announced by BGP, as kube-vip does`
}

/** Ends silent connections. */
const patience = { headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 30_000 }

/** Enough for a kubelet and Prometheus. */
const maxConnections = 50

type PlainHealth = { close(): Promise<void> }

/** Serves health and metrics over plain HTTP, for a process without a certificate. */
export async function openPlainHealth(at: Address, options: HealthOptions & { log: Log }): Promise<PlainHealth> {
  const server = nodeHttp.createServer(patience, (request, response) => {
    // Parsed without URL, which throws if a client sends none.
    const [pathname = ''] = request.url?.split('?') ?? []
    const path = request.method === 'GET' || request.method === 'HEAD' ? pathname : ''
    void answerHealth(path, options).then(({ status, type, text }) =>
      response.writeHead(status, { 'content-type': type }).end(request.method === 'HEAD' ? undefined : text),
    )
  })
  server.maxConnections = maxConnections
  await portOpener(options.log)('health', at, (free) => once(server.listen(free), 'listening'))
  return {
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
