import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError, isConflict, isNotFound } from '../../kube/errors.ts'
import type { ConfigMap, Service } from '../../kube/objects.ts'
import { configMaps, namespaces, services } from '../../kube/resource.ts'
import { type Asked, answer, clientOf, errorOf, refuse, withServer } from './played-server.ts'

const at = { namespace: 'default', name: 'web' }
const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { key: 'value' } }
type Client = ReturnType<typeof clientOf>

const calls: { name: string; call: (client: Client) => Promise<unknown>; asked: Partial<Asked> & { type?: string } }[] =
  [
    {
      name: 'an object is got by its path',
      call: (client) => client.get(services, at),
      asked: { method: 'GET', path: '/api/v1/namespaces/default/services/web', query: {} },
    },
    {
      name: 'an object without a namespace is got at the root, whatever namespace is said',
      call: (client) => client.get(namespaces, { namespace: 'default', name: 'kube-system' }),
      asked: { method: 'GET', path: '/api/v1/namespaces/kube-system' },
    },
    {
      name: 'a list says what it selects and how long a page is',
      call: (client) =>
        client.list(services, { labelSelector: 'a=b,c', fieldSelector: 'metadata.name=x', limit: 7, continue: 'on+' }),
      asked: {
        method: 'GET',
        path: '/api/v1/services',
        query: { labelSelector: 'a=b,c', fieldSelector: 'metadata.name=x', limit: '7', continue: 'on+' },
      },
    },
    {
      name: 'a new object is posted to its collection',
      call: (client) => client.create(configMaps, map, { dryRun: true, fieldManager: 'me' }),
      asked: {
        method: 'POST',
        path: '/api/v1/namespaces/default/configmaps',
        query: { dryRun: 'All', fieldManager: 'me' },
        body: map,
        type: 'application/json',
      },
    },
    {
      name: 'a status is put to its subresource',
      call: (client) => client.replace(configMaps, map, { subresource: 'status', fieldValidation: 'Strict' }),
      asked: {
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
      asked: { method: 'PATCH', body: { spec: { loadBalancerIP: null } }, type: 'application/merge-patch+json' },
    },
    {
      name: 'a JSON patch is sent as a list of operations',
      call: (client) => client.patch(services, { ...at, patch: { json: [{ op: 'remove', path: '/spec/x' }] } }),
      asked: { method: 'PATCH', body: [{ op: 'remove', path: '/spec/x' }], type: 'application/json-patch+json' },
    },
    {
      name: 'an apply takes its fields over',
      call: (client) => client.apply(configMaps, map, { fieldManager: 'me' }),
      asked: {
        method: 'PATCH',
        path: '/api/v1/namespaces/default/configmaps/web',
        query: { fieldManager: 'me', force: 'true' },
        body: map,
        type: 'application/apply-patch+yaml',
      },
    },
    {
      name: 'a remove says which object it means',
      call: (client) => client.remove(configMaps, { ...at, uid: 'u1', resourceVersion: '7' }, { dryRun: true }),
      asked: {
        method: 'DELETE',
        query: { dryRun: 'All' },
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'u1', resourceVersion: '7' } },
      },
    },
  ]

for (const { name, call, asked } of calls) {
  test(name, () =>
    withServer(
      (_, response) => answer(response, { metadata: {}, items: [] }),
      async (server) => {
        await call(clientOf(server))
        const { type, ...rest } = asked
        const [seen] = server.asked
        for (const [part, value] of Object.entries(rest)) assert.equal(seen?.[part as keyof Asked], value)
        assert.is(seen?.headers['content-type'], type ?? seen?.headers['content-type'])
        assert.is(seen?.headers['user-agent'], 'test/1')
        assert.is(seen?.headers.authorization, 'Bearer the-secret-token')
      },
    ),
  )
}

test('fields that nobody here knows come and go untouched', () =>
  withServer(
    ({ body, method }, response) =>
      answer(response, method === 'GET' ? { ...map, spec: { newField: [1, { a: null }] } } : body),
    async (server) => {
      const client = clientOf(server)
      const got = (await client.get(configMaps, at)) as ConfigMap
      const stored = await client.replace(configMaps, got)
      assert.equal(stored, { ...map, spec: { newField: [1, { a: null }] } })
    },
  ))

test('listed objects say what they are, although the server leaves that out', () =>
  withServer(
    (_, response) =>
      answer(response, { metadata: { resourceVersion: '9', continue: 'more' }, items: [{ metadata: at }] }),
    async (server) => {
      const page = await clientOf(server).list(services)
      assert.equal(page, {
        metadata: { resourceVersion: '9', continue: 'more' },
        items: [{ apiVersion: 'v1', kind: 'Service', metadata: at } as Service],
      })
    },
  ))

test('an object that is not there is undefined, and removing it succeeds', () =>
  withServer(
    (_, response) =>
      refuse(response, 404, { reason: 'NotFound', message: 'services "web" not found', details: { name: 'web' } }),
    async (server) => {
      assert.is(await clientOf(server).get(services, at), undefined)
      await clientOf(server).remove(services, at)
    },
  ))

test('a write to what is not there is refused', () =>
  withServer(
    (_, response) => refuse(response, 404, { reason: 'NotFound', message: 'no', details: { name: 'web' } }),
    async (server) => {
      assert.ok(isNotFound(await errorOf(clientOf(server).patch(services, { ...at, patch: { merge: {} } }))))
    },
  ))

for (const [form, body] of [
  ['in plain text', '404 page not found\n'],
  ['in a Status', JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound', details: {} })],
]) {
  test(`a kind that is not served, said ${form}, is not taken for an object that is not there`, () =>
    withServer(
      (_, response) => void response.writeHead(404).end(body),
      async (server) => {
        const error = await errorOf(clientOf(server).get(services, at))
        assert.ok(error instanceof KubeError && error.reason === 'UnknownKind' && isNotFound(error))
        assert.match(error.message, /get Service default\/web: .*CustomResourceDefinition/)
      },
    ))
}

test('a refusal says which call on which object, in the words of the server', () =>
  withServer(
    (_, response) => refuse(response, 409, { reason: 'Conflict', message: 'the object has been modified' }),
    async (server) => {
      const error = await errorOf(clientOf(server).replace(configMaps, map))
      assert.is(error.message, 'replace ConfigMap default/web: the object has been modified (409 Conflict)')
      assert.ok(isConflict(error))
    },
  ))

test('a name or namespace that is missing never widens a call to a collection', async () => {
  const client = clientOf({ url: 'http://127.0.0.1:1' })
  const wrong = [
    () => client.remove(services, { namespace: 'default', name: '' }),
    () => client.remove(services, { name: 'web' }),
    () => client.get(services, { namespace: '', name: 'web' }),
    () => client.create(configMaps, { ...map, metadata: { name: 'web' } }),
  ]
  for (const call of wrong) assert.match((await errorOf(call())).message, /has no name/)
})

test.run()
