import process from 'node:process'
import { setImmediate } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../../announcers/announcer.ts'
import type { ConfigureResult, Configurator } from '../../../controllers/announcing/configurator.ts'
import { apiVersion, ciliumResources } from '../../../announcers/cilium/resources.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { emptyFormer, formerDocument, formerObjects } from '../../../controllers/announcing/empty-former.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { Secret } from '../../../kube/objects.ts'
import { secrets } from '../../../kube/resource.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'

const marks = { label: { name: 'example.com/by', value: 'us' }, advertisement: 'adv', counting: 'example.com' }
const signal = new AbortController().signal
const address = '203.0.113.40'
const nothing: Announcements = { addresses: [], nodes: [] }
const shown: Announcements = { addresses: [{ address, services: ['default/web'] }], nodes: [] }

/** A configuration that has these addresses, and what was done to it. */
function configuration(name: string, calls: string[], has: string[] = []) {
  const world = { has, isRefused: false }
  const configurator: Configurator = {
    carryOut({ addresses }): Promise<ConfigureResult> {
      const wanted = addresses.map((one) => one.address)
      const isChanged = !world.isRefused && wanted.join() !== world.has.join()
      if (isChanged) world.has = wanted
      calls.push(`${name}: ${wanted.join() || 'nothing'}${isChanged ? ', written' : ''}`)
      return Promise.resolve({ problems: [], isChanged, isRefused: world.isRefused })
    },
    announces: (asked) => Promise.resolve(world.has.includes(asked)),
  }
  return { world, configurator }
}

test('the configuration of now is written first, then a former one is emptied, and looked at until it is empty', async () => {
  const calls: string[] = []
  const [now, before] = [configuration('now', calls), configuration('before', calls, [address])]
  const both = emptyFormer({ current: now.configurator, former: [before.configurator] })
  assert.is(await both.announces(address, signal), true, 'the software of before may run still')
  assert.is((await both.carryOut(shown, signal)).isChanged, true)
  assert.is((await both.carryOut(shown, signal)).isChanged, false)
  await both.carryOut(shown, signal)
  assert.equal(calls, [
    `now: ${address}, written`,
    'before: nothing, written',
    `now: ${address}`,
    'before: nothing',
    `now: ${address}`,
  ])
})

test('while the software of now has not all that it needs, a former configuration stays', async () => {
  const calls: string[] = []
  const [now, before] = [configuration('now', calls), configuration('before', calls, [address])]
  const both = emptyFormer({ current: now.configurator, former: [before.configurator] })
  now.world.isRefused = true
  assert.is((await both.carryOut(shown, signal)).isRefused, true)
  assert.equal(before.world.has, [address])
  now.world.isRefused = false
  await both.carryOut(shown, signal)
  assert.equal(before.world.has, [])
})

test('software without a configuration leaves nothing to announce by another one', async () => {
  const before = configuration('before', [], [address])
  const alone = emptyFormer({ current: undefined, former: [before.configurator] })
  assert.is(await alone.announces(address, signal), true)
  await alone.carryOut(shown, signal)
  assert.is(await alone.announces(address, signal), false)
})

test('a document that we have no right to, or that nobody can read, was not ours; any other failure is one', async () => {
  const failing = (error: Error) => {
    const fails = () => {
      throw error
    }
    return formerDocument({ document: { carryOut: fails, announces: fails }, log: silentLog })
  }
  for (const error of [new KubeError('no', { status: 403, reason: 'Forbidden' }), new Error('not YAML')]) {
    assert.is((await failing(error).carryOut(shown, signal)).isChanged, false)
    assert.is(await failing(error).announces(address, signal), false)
  }
  const unknown = await failing(new KubeError('no answer', { status: 0, reason: 'Timeout' }))
    .announces(address, signal)
    .catch((error: unknown) => error)
  assert.match(String(unknown), 'no answer')
})

test('objects that we have no right to read were not ours; any other failure is one', async () => {
  const failing = (reason: Error) => {
    const fails = async () => {
      throw reason
    }
    const client = { list: fails, get: fails } as unknown as KubeClient
    const [former] = announcerOf({ kind: 'kube-vip' }, marks).former ?? []
    if (!former) throw new Error('there is a former configuration')
    return formerObjects({ client, former, current: undefined })
  }
  const forbidden = failing(new KubeError('no', { status: 403, reason: 'Forbidden' }))
  assert.is((await forbidden.carryOut(shown, signal)).isChanged, false)
  assert.is(await forbidden.announces(address, signal), false)
  const unknown = await failing(new KubeError('no answer', { status: 0, reason: 'Timeout' }))
    .announces(address, signal)
    .catch((error: unknown) => error)
  assert.match(String(unknown), 'no answer')
})

test('a Secret that the software of now has under the same name stays', async () => {
  const labels = { 'app.kubernetes.io/managed-by': 'eip-admission' }
  const left = async (namespace: string) => {
    const api = apiServer()
    const secret = { namespace: 'kube-system', name: 'eip-admission-bgp', labels }
    api.put<Secret>(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: secret, type: 'Opaque', data: {} })
    const pool = { name: 'eip-admission-203.0.113.40', labels }
    api.put(ciliumResources.pools, { apiVersion, kind: 'CiliumLoadBalancerIPPool', metadata: pool })
    const { configuration: current, former = [] } = announcerOf({ kind: 'calico', namespace }, marks)
    if (current?.kind !== 'objects') throw new Error('Calico is configured by objects')
    for (const one of former)
      await formerObjects({ client: api.client, former: one, current }).carryOut(nothing, signal)
    return api.everything().map(({ kind }) => kind)
  }
  assert.equal(await left('kube-system'), ['Secret'])
  assert.equal(await left('calico-system'), [])
})

test('reads that fail one after another fail together: none is left for the process to end by', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const fails = async () => {
    throw new KubeError('aborted', { status: 0, reason: 'Aborted' })
  }
  const client = { list: fails, get: fails } as unknown as KubeClient
  const formers = announcerOf({ kind: 'kube-vip' }, marks).former ?? []
  assert.ok(formers.some(({ shared = [] }) => shared.length > 0))
  for (const former of formers) {
    const failure = await formerObjects({ client, former, current: undefined })
      .announces(address, signal)
      .catch((error: unknown) => error)
    assert.match(String(failure), 'aborted')
  }
  await setImmediate()
  process.off('unhandledRejection', note)
  assert.equal(unhandled, [])
})

test.run()
