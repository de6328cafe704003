import type { FastifyInstance } from 'fastify'

/** A named question about the process; the answer is what is wrong, or undefined. */
export type Check = { name: string; wrong: () => string | undefined }

export type HealthOptions = {
  /** Whether the process is worth keeping. */
  live: Check[]
  /** Whether it may be sent work. */
  ready: Check[]
  metrics: () => Promise<string>
}

/** Health and metrics, as upstream names them, and two paths that upstream does not have: /livez and /readyz. */
export function addHealth(app: FastifyInstance, { live, ready, metrics }: HealthOptions): void {
  const checks = { '/healthz': live, '/livez': live, '/readyz': ready }
  for (const [path, list] of Object.entries(checks)) {
    app.get(path, async (_request, reply) => {
      const answers = list.map(({ name, wrong }) => ({ name, reason: wrong() }))
      const isWell = answers.every(({ reason }) => reason === undefined)
      const lines = answers.map(({ name, reason }) =>
        reason === undefined ? `[+] ${name} ok` : `[-] ${name}: ${reason}`,
      )
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
