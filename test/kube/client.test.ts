import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError, isConflict, isNotFound } from '../../kube/errors.ts'
import type { ConfigMap, Service } from '../../kube/objects.ts'
import { configMaps, namespaces, services } from '../../kube/resource.ts'
import { type ReceivedRequest, sendJson, clientFor, errorOf, sendStatus, withServer } from './scripted-server.ts'

const at = { namespace: 'default', name: 'web' }
const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { key: 'value' } }
const reviews = { ...configMaps, namespaced: false, isReview: true } as const
type Client = ReturnType<typeof clientFor>

const calls: {
  name: string
  call: (client: Client) => Promise<unknown>
  requests: Partial<ReceivedRequest> & { type?: string }
}[] = [
  {
    name: 'get requests the path of the object',
    call: (client) => client.get(services, at),
    requests: { method: 'GET', path: '/api/v1/namespaces/default/services/web', query: {} },
  },
  {
    name: 'get of a kind without namespaces ignores a given namespace',
    call: (client) => client.get(namespaces, { namespace: 'default', name: 'kube-system' }),
    requests: { method: 'GET', path: '/api/v1/namespaces/kube-system' },
  },
  {
    name: 'list sends the selectors, the page size and the continue token',
    call: (client) =>
      client.list(services, { labelSelector: 'a=b,c', fieldSelector: 'metadata.name=x', limit: 7, continue: 'on+' }),
    requests: {
      method: 'GET',
      path: '/api/v1/services',
      query: { labelSelector: 'a=b,c', fieldSelector: 'metadata.name=x', limit: '7', continue: 'on+' },
    },
  },
  {
    name: 'create posts to the collection',
    call: (client) => client.create(configMaps, map, { dryRun: true, fieldManager: 'me' }),
    requests: {
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      query: { dryRun: 'All', fieldManager: 'me' },
      body: map,
      type: 'application/json',
    },
  },
  {
    name: 'create of a review needs no name, because the API server stores none',
    call: (client) => client.create(reviews, { ...map, metadata: { name: '' } }),
    requests: { method: 'POST', path: '/api/v1/configmaps', type: 'application/json' },
  },
  {
    name: 'replace puts a status to its subresource',
    call: (client) => client.replace(configMaps, map, { subresource: 'status', fieldValidation: 'Strict' }),
    requests: {
      method: 'PUT',
      path: '/api/v1/namespaces/default/configmaps/web/status',
      query: { fieldValidation: 'Strict' },
      body: map,
      type: 'application/json',
    },
  },
  {
    name: 'a merge patch keeps its nulls',
    call: (client) => client.patch(services, { ...at, patch: { merge: { spec: { loadBalancerIP: null } } } }),
    requests: { method: 'PATCH', body: { spec: { loadBalancerIP: null } }, type: 'application/merge-patch+json' },
  },
  {
    name: 'a JSON patch is sent as a list of operations',
    call: (client) => client.patch(services, { ...at, patch: { json: [{ op: 'remove', path: '/spec/x' }] } }),
    requests: { method: 'PATCH', body: [{ op: 'remove', path: '/spec/x' }], type: 'application/json-patch+json' },
  },
  {
    name: 'apply forces the ownership of its fields',
    call: (client) => client.apply(configMaps, map, { fieldManager: 'me' }),
    requests: {
      method: 'PATCH',
      path: '/api/v1/namespaces/default/configmaps/web',
      query: { fieldManager: 'me', force: 'true' },
      body: map,
      type: 'application/apply-patch+yaml',
    },
  },
  {
    name: 'remove sends its preconditions, and a dry run where the API server reads it',
    call: (client) => client.remove(configMaps, { ...at, uid: 'u1', resourceVersion: '7' }, { dryRun: true }),
    requests: {
      method: 'DELETE',
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: 'u1', resourceVersion: '7' },
        dryRun: ['All'],
      },
    },
  },
]

for (const { name, call, requests } of calls) {
  test(name, () =>
    withServer(
      (_, response) => sendJson(response, { metadata: {}, items: [] }),
      async (server) => {
        await call(clientFor(server))
        const { type, ...rest } = requests
        const [seen] = server.requests
        for (const [part, value] of Object.entries(rest)) assert.equal(seen?.[part as keyof ReceivedRequest], value)
        assert.is(seen?.headers['content-type'], type ?? seen?.headers['content-type'])
        assert.is(seen?.headers['user-agent'], 'test/1')
        assert.is(seen?.headers.authorization, 'Bearer the-secret-token')
      },
    ),
  )
}

test('unknown fields pass unchanged', () =>
  withServer(
    ({ body, method }, response) =>
      sendJson(response, method === 'GET' ? { ...map, spec: { newField: [1, { a: null }] } } : body),
    async (server) => {
      const client = clientFor(server)
      const got = (await client.get(configMaps, at)) as ConfigMap
      const stored = await client.replace(configMaps, got)
      assert.equal(stored, { ...map, spec: { newField: [1, { a: null }] } })
    },
  ))

test('listed objects get the apiVersion and kind that the server omits', () =>
  withServer(
    (_, response) =>
      sendJson(response, { metadata: { resourceVersion: '9', continue: 'more' }, items: [{ metadata: at }] }),
    async (server) => {
      const page = await clientFor(server).list(services)
      assert.equal(page, {
        metadata: { resourceVersion: '9', continue: 'more' },
        items: [{ apiVersion: 'v1', kind: 'Service', metadata: at } as Service],
      })
    },
  ))

test('get of an object that does not exist is undefined, and its remove succeeds', () =>
  withServer(
    (_, response) =>
      sendStatus(response, 404, { reason: 'NotFound', message: 'services "web" not found', details: { name: 'web' } }),
    async (server) => {
      assert.is(await clientFor(server).get(services, at), undefined)
      await clientFor(server).remove(services, at)
    },
  ))

test('a patch of an object that does not exist throws', () =>
  withServer(
    (_, response) => sendStatus(response, 404, { reason: 'NotFound', message: 'no', details: { name: 'web' } }),
    async (server) => {
      assert.ok(isNotFound(await errorOf(clientFor(server).patch(services, { ...at, patch: { merge: {} } }))))
    },
  ))

for (const [form, body] of [
  ['in plain text', '404 page not found\n'],
  ['in a Status', JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound', details: {} })],
]) {
  test(`a 404 ${form} for a kind that is not served throws, and is not taken for a missing object`, () =>
    withServer(
      (_, response) => void response.writeHead(404).end(body),
      async (server) => {
        const error = await errorOf(clientFor(server).get(services, at))
        assert.ok(error instanceof KubeError && error.reason === 'UnknownKind' && isNotFound(error))
        assert.match(error.message, /get Service default\/web: .*CustomResourceDefinition/)
      },
    ))
}

test('an error names the call and the object, and has the message of the server', () =>
  withServer(
    (_, response) => sendStatus(response, 409, { reason: 'Conflict', message: 'the object has been modified' }),
    async (server) => {
      const error = await errorOf(clientFor(server).replace(configMaps, map))
      assert.is(error.message, 'replace ConfigMap default/web: the object has been modified (409 Conflict)')
      assert.ok(isConflict(error))
    },
  ))

test('each call is observed with its method and its result', () =>
  withServer(
    ({ method }, response) =>
      method === 'GET' ? sendJson(response, map) : sendStatus(response, 409, { reason: 'Conflict', message: 'no' }),
    async (server) => {
      const seen: object[] = []
      const client = clientFor(server, {
        observe: ({ ms, answer: _object, ...call }) => void seen.push({ ...call, isTimed: ms >= 0 }),
      })
      await client.get(configMaps, at)
      await errorOf(client.replace(configMaps, map))
      assert.equal(seen, [
        { call: 'get ConfigMap default/web', method: 'GET', result: 'ok', isTimed: true },
        {
          call: 'replace ConfigMap default/web',
          method: 'PUT',
          result: 'Conflict',
          message: 'replace ConfigMap default/web: no (409 Conflict)',
          isTimed: true,
        },
      ])
    },
  ))

test('a call with a missing name or namespace throws and is not sent to the collection', async () => {
  const client = clientFor({ url: 'http://127.0.0.1:1' })
  const wrong = [
    () => client.remove(services, { namespace: 'default', name: '' }),
    () => client.remove(services, { name: 'web' }),
    () => client.get(services, { namespace: '', name: 'web' }),
    () => client.create(configMaps, { ...map, metadata: { name: 'web' } }),
    () => client.create(configMaps, { ...map, metadata: { ...at, name: '' } }),
  ]
  for (const call of wrong) assert.match((await errorOf(call())).message, /has no name/)
})

test.run()
