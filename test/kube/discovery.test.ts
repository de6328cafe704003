import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sendJson, clientFor, errorOf, sendStatus, withServer } from './scripted-server.ts'

const served = {
  kind: 'APIResourceList',
  resources: [
    { name: 'deployments/status', kind: 'Deployment', namespaced: true },
    { name: 'deployments', kind: 'Deployment', namespaced: true },
  ],
}

test('a kind is found by its group and version, and subresources are skipped', () =>
  withServer(
    ({ path }, response) => (path === '/apis/apps/v1' ? sendJson(response, served) : sendStatus(response, 404)),
    async (server) => {
      const client = clientFor(server)
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

test('the core group has its own path', () =>
  withServer(
    ({ path }, response) =>
      sendJson(response, { resources: [{ name: path === '/api/v1' ? 'pods' : '', kind: 'Pod', namespaced: true }] }),
    async (server) => assert.is((await clientFor(server).resource({ apiVersion: 'v1', kind: 'Pod' }))?.plural, 'pods'),
  ))

test('an error of the API server is not taken for an unknown kind', () =>
  withServer(
    (_asked, response) => sendStatus(response, 403, { reason: 'Forbidden', message: 'no' }),
    async (server) =>
      assert.match(
        (await errorOf(clientFor(server).resource({ apiVersion: 'v1', kind: 'Pod' }))).message,
        /discover v1 Pod/,
      ),
  ))

test.run()
