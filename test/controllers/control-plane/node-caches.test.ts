import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Node } from '../../../kube/objects.ts'
import { controlPlaneCaches } from '../../../controllers/control-plane/node-caches.ts'
import { silentLog } from '../../fakes/log.ts'
import { type Respond, clientFor, sendJson, until, withServer } from '../../kube/scripted-server.ts'

const makeNode = (name: string, ...labels: string[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, labels: Object.fromEntries(labels.map((label) => [label, ''])) },
  spec: {},
})

const [role, oldRole] = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']
const nodes = [
  makeNode('new', role),
  makeNode('old', oldRole),
  makeNode('both', role, oldRole),
  makeNode('worker', 'node-role.kubernetes.io/worker'),
]

/** An API server that has these nodes, no slices and quiet watches. */
const respond: Respond = ({ path, query: { watch, labelSelector = '' } }, response) => {
  if (watch) return response.writeHead(200).flushHeaders()
  const items = nodes.filter(({ metadata }) => path.endsWith('/nodes') && labelSelector in (metadata.labels ?? {}))
  sendJson(response, { metadata: { resourceVersion: '1' }, items })
}

const bookmark = JSON.stringify({
  type: 'BOOKMARK',
  object: { apiVersion: 'v1', kind: 'Node', metadata: { resourceVersion: '2' } },
})

test('nodes with the role of today or the old one are guarded, each once, and no others are read', async () =>
  withServer(respond, async (server) => {
    const ending = new AbortController()
    const caches = controlPlaneCaches({
      client: clientFor(server),
      log: silentLog,
    })
    caches.start(ending.signal)
    try {
      await caches.synced(ending.signal)
      assert.equal(
        caches
          .nodes()
          .map(({ metadata }) => metadata.name)
          .toSorted(),
        ['both', 'new', 'old'],
      )
    } finally {
      ending.abort()
    }
  }))

test('the caches are as silent as the most silent of them, even while another one hears something', () =>
  withServer(
    (request, response) => {
      if (request.path.endsWith('/endpointslices')) return
      void respond(request, response)
      if (!request.query['watch']) return
      const talk = setInterval(() => response.write(`${bookmark}\n`), 10)
      response.on('close', () => clearInterval(talk))
    },
    async (server) => {
      const ending = new AbortController()
      const caches = controlPlaneCaches({ client: clientFor(server), log: silentLog })
      caches.start(ending.signal)
      try {
        await until(() => caches.silentForMs() >= 500)
      } finally {
        ending.abort()
      }
    },
  ))

test.run()
