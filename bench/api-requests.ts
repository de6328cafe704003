import type { Stage } from '../sandbox/stage.ts'

/** Requests that the API server has answered since its start. */
export type ApiRequests = {
  /** How many of a kind: `GET services`, `PATCH services/status`. A page of a list is a LIST. */
  of(kind: RegExp): number
}

/** Reads how often the API server has answered each kind of request so far, from every client. */
export async function apiRequests({ kubectl }: Pick<Stage, 'kubectl'>): Promise<ApiRequests> {
  const { stdout } = await kubectl(['get', '--raw', '/metrics'])
  const counted = stdout.split('\n').flatMap((line) => {
    if (!line.startsWith('apiserver_request_total{')) return []
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? ''
    const [resource, subresource] = [label('resource'), label('subresource')]
    const kind = `${label('verb')} ${resource}${subresource === '' ? '' : `/${subresource}`}`
    return [{ kind, count: Number(line.split(' ').at(-1)) }]
  })
  return { of: (kind) => counted.filter((one) => kind.test(one.kind)).reduce((sum, { count }) => sum + count, 0) }
}
