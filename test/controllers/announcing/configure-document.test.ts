import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DocumentConfiguration } from '../../../announcers/announcer.ts'
import { configureDocument } from '../../../controllers/announcing/configure-either.ts'
import { KubeError, isConflict } from '../../../kube/errors.ts'
import type { ConfigMap } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { apiServer } from '../../fakes/api-server.ts'

const signal = new AbortController().signal
const at = { namespace: 'metallb-system', name: 'config' }
const state = { addresses: [{ address: '203.0.113.40', services: ['default/web'] }], nodes: [] }

/** A line an address. */
const configuration: DocumentConfiguration = {
  kind: 'document',
  at: { ...at, key: 'config' },
  edit: (document, { addresses }) => ({
    document: [...new Set([...document.split('\n'), ...addresses.map(({ address }) => address)])].join('\n'),
    problems: [],
  }),
  withdraw: (document, { addresses }) =>
    document
      .split('\n')
      .filter((line) => !line.startsWith('203') || addresses.some(({ address }) => address === line))
      .join('\n'),
  hasAddress: (document, address) => document.split('\n').includes(address),
}

function withDocument(data?: Record<string, string>) {
  const api = apiServer()
  if (data) api.put<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data })
  return { ...api, document: () => api.stored<ConfigMap>(configMaps)[0] }
}

test('a document is edited in place, once, and what else is in the ConfigMap stays', async () => {
  const { client, document } = withDocument({ config: 'a person', notes: 'theirs' })
  const configurator = configureDocument({ client, configuration })
  assert.equal(await configurator.carryOut(state, signal), { problems: [], isChanged: true, isRefused: false })
  assert.equal(document()?.data, { config: 'a person\n203.0.113.40', notes: 'theirs' })
  assert.is((await configurator.carryOut(state, signal)).isChanged, false)
  assert.is(await configurator.announces('203.0.113.40', signal), true)
  assert.is(await configurator.announces('203.0.113.41', signal), false)
})

test('an address is withdrawn from a document, and nothing else is changed', async () => {
  const { client, document } = withDocument({ config: 'a person\n203.0.113.40\n203.0.113.41', notes: 'theirs' })
  const configurator = configureDocument({ client, configuration })
  assert.is(await configurator.withdraw(state, signal), true)
  assert.equal(document()?.data, { config: 'a person\n203.0.113.40', notes: 'theirs' })
  assert.is(await configurator.withdraw(state, signal), false)
  assert.is(await configureDocument({ client: withDocument().client, configuration }).withdraw(state, signal), false)
})

test('a missing ConfigMap is not created, and is an error only if there is something to announce', async () => {
  const { client, document } = withDocument()
  const configurator = configureDocument({ client, configuration })
  assert.equal(await configurator.carryOut({ addresses: [], nodes: [] }, signal), {
    problems: [],
    isChanged: false,
    isRefused: false,
  })
  const missed = await configurator.carryOut(state, signal).catch((error: unknown) => error)
  assert.match(String(missed), 'ConfigMap metallb-system/config does not exist')
  assert.is(document(), undefined)
  assert.is(await configurator.announces('203.0.113.40', signal), false)
})

// A proxy in front of the API server may refuse a read without a reason.
for (const reason of ['Forbidden', 'Unknown', 'Unreadable'])
  test(`without the right to the ConfigMap each Service learns who says what to run: ${reason}`, async () => {
    const { client } = withDocument()
    const refused = { ...client, get: () => Promise.reject(new KubeError('no', { status: 403, reason })) }
    const { problems, isRefused } = await configureDocument({ client: refused, configuration }).carryOut(state, signal)
    assert.is(isRefused, true, 'the right may come: we look again')
    assert.equal(problems, [
      {
        subject: { service: 'default/web' },
        message:
          'eip-admission may not access ConfigMap metallb-system/config, so no address is announced; ' +
          'run `eip-admission doctor` with the settings and the namespace of serve, which says how to fix it',
      },
    ])
  })

test('what a person writes while we edit is not overwritten', async () => {
  const { client, document, ...api } = withDocument({ config: 'a person' })
  const there = document()
  const quick: DocumentConfiguration = {
    ...configuration,
    edit: (text, wanted) => {
      if (there) api.put<ConfigMap>(configMaps, { ...there, data: { config: 'a person, again' } })
      return configuration.edit(text, wanted)
    },
  }
  const refused = await configureDocument({ client, configuration: quick })
    .carryOut(state, signal)
    .then(() => undefined)
    .catch((error: unknown) => error)
  assert.ok(isConflict(refused))
  assert.is(document()?.data?.['config'], 'a person, again')
})

test.run()
