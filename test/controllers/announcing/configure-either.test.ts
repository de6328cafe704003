import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metallbDocument } from '../../../announcers/metallb/document.ts'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { type Configurator, nothingDone } from '../../../controllers/announcing/configurator.ts'
import { configureEither } from '../../../controllers/announcing/configure-either.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { ConfigMap } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

const signal = new AbortController().signal
const at = { namespace: 'metallb-system', name: 'config' }
const state = { addresses: [{ address: '203.0.113.40', services: ['default/web'] }], nodes: [] }
const label = { name: 'example.com/cloud', value: 'ours' }

/** A cluster without MetalLB, and what was configured there. */
function scene() {
  const api = apiServer()
  const world = { hasKinds: false, isForbidden: false, isDown: false, announcing: '' }
  const done: string[] = []
  const log = recordedLog()
  const named = (name: string): Configurator => ({
    carryOut: () => Promise.resolve((done.push(name), nothingDone)),
    announces: () => Promise.resolve(world.announcing === name),
  })
  const configurator = configureEither({
    client: {
      ...api.client,
      list: async (resource, options) => {
        if (world.isDown) throw new KubeError('no answer', { status: 503, reason: 'ServiceUnavailable' })
        if (resource.kind === ipAddressPools.kind && !world.hasKinds)
          throw new KubeError('no such kind', { status: 404, reason: 'UnknownKind' })
        return api.client.list(resource, options)
      },
      get: async (resource, target, options) => {
        if (world.isForbidden) throw new KubeError('no', { status: 403, reason: 'Forbidden' })
        return api.client.get(resource, target, options)
      },
    },
    log,
    configuration: {
      kind: 'either',
      title: 'MetalLB',
      objects: metallbObjects({
        namespace: at.namespace,
        peerMode: 'native',
        label,
        advertisement: 'ours',
        passwordSecret: 'ours',
      }),
      document: metallbDocument({ ...at, counting: 'example.com' }),
    },
    objects: named('objects'),
    document: named('document'),
  })
  const pass = () =>
    configurator.carryOut(state, signal).then(
      () => done.at(-1) ?? 'nothing',
      (error: Error) => error.message,
    )
  const addConfigMap = () =>
    void api.put<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { config: '' } })
  return { world, configurator, pass, addConfigMap, done, lines: log.lines }
}

test('while there is neither, each pass reports it and looks again, and a ConfigMap that comes later is used', async () => {
  const { pass, addConfigMap } = scene()
  for (const _ of [1, 2]) assert.match(await pass(), 'there are neither custom resources of MetalLB nor a ConfigMap')
  addConfigMap()
  assert.is(await pass(), 'document')
})

test('so are custom resources, also beside a ConfigMap, and the choice stays', async () => {
  const { world, pass, addConfigMap } = scene()
  await pass()
  addConfigMap()
  world.hasKinds = true
  assert.is(await pass(), 'objects')
  world.hasKinds = false
  assert.is(await pass(), 'objects')
})

test('custom resources that come later replace a ConfigMap, which no newer MetalLB reads, and each choice is logged once, with its reason', async () => {
  const { world, pass, addConfigMap, lines } = scene()
  addConfigMap()
  for (const _ of [1, 2]) assert.is(await pass(), 'document')
  world.hasKinds = true
  for (const _ of [1, 2]) assert.is(await pass(), 'objects')
  const message = 'chose how to configure the announcing software'
  assert.equal(lines, [
    { level: 'info', fields: { chosen: 'ConfigMap', reason: 'there is a ConfigMap metallb-system/config' }, message },
    {
      level: 'info',
      fields: { chosen: 'custom resources', reason: 'the cluster has its custom resources' },
      message,
    },
  ])
})

test('a ConfigMap to which we have no right is reported by who would edit it, and custom resources may still come', async () => {
  const { world, pass } = scene()
  world.isForbidden = true
  assert.is(await pass(), 'document')
  world.hasKinds = true
  assert.is(await pass(), 'objects')
})

test('with nothing to announce there is nothing to say', async () => {
  const { configurator, done } = scene()
  assert.equal(await configurator.carryOut({ addresses: [], nodes: [] }, signal), nothingDone)
  assert.equal(done, [])
})

test('a list that fails does not say that there are no custom resources: a ConfigMap in their place would empty them', async () => {
  const { world, pass, addConfigMap, done } = scene()
  addConfigMap()
  world.isDown = true
  assert.match(await pass(), 'no answer')
  assert.equal(done, [])
  world.isDown = false
  world.hasKinds = true
  assert.is(await pass(), 'objects')
})

test('before the first pass an address is not released while either of the two has it', async () => {
  const { world, configurator } = scene()
  for (const [announcing, is] of Object.entries({ objects: true, document: true, neither: false })) {
    world.announcing = announcing
    assert.is(await configurator.announces('203.0.113.40', signal), is, announcing)
  }
})

test.run()
