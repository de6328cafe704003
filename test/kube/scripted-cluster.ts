// A cluster as commands read it: an API server that lists what a test says, and a kubeconfig that leads to it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../kube/objects.ts'
import { isSelected } from '../fakes/selected.ts'
import { type ReceivedRequest, sendJson, sendStatus, withServer } from './scripted-server.ts'

/** The objects of a cluster, by the plurals of their kinds, or one by its name. */
type Lists = Record<string, object[] | object | 'forbidden'>

/**
 * Runs a test with the kubeconfig of a cluster that has these objects, and what the cluster is asked. `elsewhere` is another
 * context of it. Its clock is `aheadMs` ahead of ours.
 */
export async function withCluster(
  lists: Lists,
  run: (kubeconfig: string, requests: ReceivedRequest[]) => Promise<void>,
  { aheadMs = 0 }: { aheadMs?: number } = {},
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-cluster-'))
  const file = join(dir, 'kubeconfig')
  try {
    await withServer(
      ({ path, query }, response) => {
        response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
        const found = lists[path.split('/').at(-1) ?? ''] ?? []
        if (found === 'forbidden') sendStatus(response, 403, { reason: 'Forbidden', message: 'forbidden' })
        else sendJson(response, Array.isArray(found) ? { metadata: {}, items: selected(found, path, query) } : found)
      },
      async ({ url, requests }) => {
        writeFileSync(file, kubeconfigOf(url))
        await run(file, requests)
      },
    )
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** The objects that a list has: those of its namespace that its selectors select. */
function selected(objects: object[], path: string, query: ReceivedRequest['query']): object[] {
  const [, namespace] = /\/namespaces\/([^/]+)\/[^/]+$/.exec(path) ?? []
  return objects.filter((one) => isSelected(one as KubeObject, { ...query, namespace }))
}

/** Runs a test with the kubeconfig of a cluster whose API server is gone. */
export async function withoutServer(run: (kubeconfig: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-cluster-'))
  const file = join(dir, 'kubeconfig')
  writeFileSync(file, kubeconfigOf('http://127.0.0.1:1'))
  try {
    await run(file)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

function kubeconfigOf(server: string): string {
  const context = { cluster: 'c', user: 'u' }
  return JSON.stringify({
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'the-secret-token' } }],
    contexts: ['here', 'elsewhere'].map((name) => ({ name, context })),
    'current-context': 'here',
  })
}
