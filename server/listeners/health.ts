import type { FastifyInstance } from 'fastify'
import { type StatusPage, paths } from '../../status-page/status-page.ts'

/** A named check of the process; `problem` returns undefined if it passes. */
export type Check = { name: string; problem: () => string | undefined }

export type HealthOptions = {
  /** If one of these fails, the process must be restarted. */
  live: Check[]
  /** If one of these fails, the process should get no requests. */
  ready: Check[]
  /** More facts on /readyz, for people: their problems have effects outside the process, so it stays ready. */
  details: Check[]
  metrics: () => Promise<string>
}

/** Serves health and metrics on upstream's paths, and also on /livez, /readyz and single checks, which upstream lacks. */
export function addHealth(app: FastifyInstance, options: HealthOptions): void {
  for (const path of ['/healthz', '/livez', '/readyz', '/metrics', '/livez/:check', '/readyz/:check']) {
    app.get(path, async (request, reply) => {
      const { status, type, text } = await answerHealth(request.url.split('?')[0] ?? '', options)
      return reply.code(status).type(type).send(text)
    })
  }
}

export type HealthAnswer = { status: number; type: string; text: string }

/** The answer to a GET of one of these paths; 404 for any other. */
export async function answerHealth(
  path: string,
  { live, ready, details, metrics }: HealthOptions,
): Promise<HealthAnswer> {
  switch (path) {
    case '/healthz':
    case '/livez':
      return answerChecks(live, [])
    case '/readyz':
      return answerChecks(ready, details)
    case '/metrics':
      return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: await metrics() }
    default:
      return answerCheck(path, { live, ready: [...ready, ...details] })
  }
}

/** A single check of /livez or /readyz. Unlike on /readyz itself, a detail with a problem fails here. */
function answerCheck(path: string, checks: Pick<HealthOptions, 'live' | 'ready'>): HealthAnswer {
  const [, kind, name] = /^\/(live|ready)z\/([^/]+)$/.exec(path) ?? []
  const check = checks[kind === 'live' ? 'live' : 'ready'].find((one) => one.name === name)
  return check ? answerChecks([check], []) : { status: 404, type: 'text/plain', text: 'not found\n' }
}

function answerChecks(checks: Check[], details: Check[]): HealthAnswer {
  const answers = checks.map(({ name, problem }) => ({ name, reason: problem() }))
  const isWell = answers.every(({ reason }) => reason === undefined)
  const lines = answers.map(({ name, reason }) => (reason === undefined ? `[+] ${name} ok` : `[-] ${name}: ${reason}`))
  lines.push(...details.flatMap(({ name, problem }) => detailLine(name, problem())), isWell ? 'ok' : 'not ok')
  return { status: isWell ? 200 : 503, type: 'text/plain', text: `${lines.join('\n')}\n` }
}

function detailLine(name: string, reason: string | undefined): string[] {
  return reason === undefined ? [] : [`[!] ${name}: ${reason}`]
}

/** Serves the status page next to health and metrics. */
export function addStatusPage(app: FastifyInstance, page: StatusPage): void {
  for (const url of Object.values(paths)) {
    app.get(url, (request, reply) => {
      reply.hijack()
      page(request.raw, reply.raw)
    })
  }
}
