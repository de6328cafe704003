import type { Stage } from '../sandbox/stage.ts'
import type { Row } from './measure.ts'

/** The work of the API server since its start. */
export type ApiRequests = {
  /** The count of a kind, such as `GET services` or `PATCH services/status`. Each page of a list counts as a LIST. */
  of(kind: RegExp): number
  /** Its CPU time since its start. */
  cpuMs: number
}

/** Reads how often the API server has answered each kind of request so far, from every client, and its CPU time. */
export async function apiRequests({ kubectl }: Pick<Stage, 'kubectl'>): Promise<ApiRequests> {
  const { stdout } = await kubectl(['get', '--raw', '/metrics'])
  const counted = stdout.split('\n').flatMap((line) => {
    if (!line.startsWith('apiserver_request_total{')) return []
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? ''
    const [resource, subresource] = [label('resource'), label('subresource')]
    const kind = `${label('verb')} ${resource}${subresource === '' ? '' : `/${subresource}`}`
    return [{ kind, count: Number(line.split(' ').at(-1)) }]
  })
  const cpuMs = 1000 * Number(/^process_cpu_seconds_total (.*)$/m.exec(stdout)?.[1])
  return {
    cpuMs,
    of: (kind) => counted.filter((one) => kind.test(one.kind)).reduce((sum, { count }) => sum + count, 0),
  }
}

/** How often the API server was asked for each of `count` Services between two reads, without the measure's own write. */
export function requestsOfEach(count: number, { before, after }: { before: ApiRequests; after: ApiRequests }): Row[] {
  const each = (measure: string, kind: RegExp, own = 0): Row => {
    return { measure, unit: 'calls', ours: [(after.of(kind) - before.of(kind)) / count - own] }
  }
  return [
    each('writes of Services and records', /^(POST|PUT|PATCH|DELETE) (services|elasticips)/, 1),
    each('of these, of the status of Services', /^PATCH services\/status/),
    each('reads of them', /^GET (services|elasticips)/),
    each('lists of them', /^LIST (services|elasticips)/),
    each('Events written', /^(POST|PATCH) events/),
    { measure: 'CPU of the API server for each Service', unit: 'ms', ours: [(after.cpuMs - before.cpuMs) / count] },
  ]
}
