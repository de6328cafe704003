import type { FastifyInstance } from 'fastify'

/** A named check of the process; `problem` returns undefined if all is well. */
export type Check = { name: string; problem: () => string | undefined }

export type HealthOptions = {
  /** If one fails, the process has to be restarted. */
  live: Check[]
  /** If one fails, the process should get no requests. */
  ready: Check[]
  /** What an operator should know although the process is ready; /readyz shows it. */
  notes: Check[]
  metrics: () => Promise<string>
}

/** Serves health and metrics on upstream's paths, and on two that upstream lacks: /livez and /readyz. */
export function addHealth(app: FastifyInstance, { live, ready, notes, metrics }: HealthOptions): void {
  const checks = { '/healthz': live, '/livez': live, '/readyz': ready }
  for (const [path, list] of Object.entries(checks)) {
    app.get(path, async (_request, reply) => {
      const answers = list.map(({ name, problem }) => ({ name, reason: problem() }))
      const isWell = answers.every(({ reason }) => reason === undefined)
      const lines = answers.map(({ name, reason }) =>
        reason === undefined ? `[+] ${name} ok` : `[-] ${name}: ${reason}`,
      )
      for (const { name, problem } of path === '/readyz' ? notes : []) {
        const note = problem()
        if (note !== undefined) lines.push(`[!] ${name}: ${note}`)
      }
      return reply
        .code(isWell ? 200 : 503)
        .type('text/plain')
        .send(`${[...lines, isWell ? 'ok' : 'not ok'].join('\n')}\n`)
    })
  }
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()),
  )
}
