import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { answer, clientOf, errorOf, refuse, withServer } from './played-server.ts'

const served = {
  kind: 'APIResourceList',
  resources: [
    { name: 'deployments/status', kind: 'Deployment', namespaced: true },
    { name: 'deployments', kind: 'Deployment', namespaced: true },
  ],
}

test('a kind is found by its group and version, subresources aside', () =>
  withServer(
    ({ path }, response) => (path === '/apis/apps/v1' ? answer(response, served) : refuse(response, 404)),
    async (server) => {
      const client = clientOf(server)
      assert.equal(await client.resource({ apiVersion: 'apps/v1', kind: 'Deployment' }), {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        plural: 'deployments',
        namespaced: true,
      })
      assert.is(await client.resource({ apiVersion: 'apps/v1', kind: 'Deploymint' }), undefined)
      assert.is(await client.resource({ apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy' }), undefined)
    },
  ))

test('the oldest group has a path of its own', () =>
  withServer(
    ({ path }, response) =>
      answer(response, { resources: [{ name: path === '/api/v1' ? 'pods' : '', kind: 'Pod', namespaced: true }] }),
    async (server) => assert.is((await clientOf(server).resource({ apiVersion: 'v1', kind: 'Pod' }))?.plural, 'pods'),
  ))

test('an API server that is not well is no proof that it does not know a kind', () =>
  withServer(
    (_asked, response) => refuse(response, 403, { reason: 'Forbidden', message: 'no' }),
    async (server) =>
      assert.match(
        (await errorOf(clientOf(server).resource({ apiVersion: 'v1', kind: 'Pod' }))).message,
        /discover v1 Pod/,
      ),
  ))

test.run()
