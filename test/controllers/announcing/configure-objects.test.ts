// On one real API server for all tests: each has a namespace of its own.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, ObjectConfiguration, WantedObject } from '../../../announcers/announcer.ts'
import { carryOutChange } from '../../../controllers/announcing/carry-out-change.ts'
import { KubeError, isConflict } from '../../../kube/errors.ts'
import { configureObjects } from '../../../controllers/announcing/configure-objects.ts'
import { connect } from '../../../kube/connect.ts'
import { kubeconfig } from '../../../kube/kubeconfig.ts'
import { serviceAccountUser } from '../../../settings/installed-names.ts'
import { bindRole } from '../../../manifests/rbac.ts'
import { resourceOf } from '../../../manifests/resources.ts'
import type { ConfigMap, KubeObject } from '../../../kube/objects.ts'
import { type Resource, configMaps, defineResource, secrets } from '../../../kube/resource.ts'
import { adoptPeers } from './adopt-peers.ts'
import { silentLog } from '../../fakes/log.ts'
import { eventually } from '../../whole/eventually.ts'
import { onControlPlane, stopControlPlane } from './on-control-plane.ts'

const signal = new AbortController().signal
const nowhere = defineResource<KubeObject>({
  apiVersion: 'nobody.example.com/v1',
  kind: 'Pool',
  plural: 'pools',
  namespaced: true,
})
const label = { 'example.com/announcer': 'test' }

/** An address is our ConfigMap; `broken` is one that the API server refuses. */
function pool(namespace: string, address: string): WantedObject {
  const name = address === 'broken' ? 'Not A Name' : `pool-${address}`
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, labels: label },
    data: { address },
  }
  return { object, subjects: [{ service: `default/${address}` }] }
}

function poolsIn(namespace: string, resource: Resource<KubeObject> = configMaps): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace,
    kinds: [{ resource: secrets, only: 'password' }, { resource }],
    from: 'a program of the test',
    isOurs: ({ metadata }) => metadata.labels?.['example.com/announcer'] === 'test',
    objects: ({ addresses }) => ({ wanted: addresses.map(({ address }) => pool(namespace, address)), problems: [] }),
    reports: [],
    reportedProblems: () => [],
    announcing: resource,
    nameFor: (address) => `pool-${address}`,
    hasAddress: (object, address) => (object as ConfigMap).data?.['address'] === address,
  }
}

const announcements = (...addresses: string[]): Announcements => ({
  addresses: addresses.map((address) => ({ address, services: [`default/${address}`] })),
  nodes: [],
})

test('objects on a real API server: only differences are written, only ours are removed, refusals are reported', () =>
  onControlPlane(async ({ client, writes, namespace }) => {
    const at = await namespace()
    const configurator = configureObjects({ client, configuration: poolsIn(at) })
    const turn = async (...addresses: string[]) => {
      writes.length = 0
      const { problems } = await configurator.carryOut(announcements(...addresses), signal)
      return { writes: writes.toSorted(), reported: problems.map(({ subject }) => subject) }
    }
    await client.create(configMaps, {
      ...pool(at, 'theirs').object,
      metadata: { namespace: at, name: 'theirs' },
    } as ConfigMap)

    assert.equal(await turn('1', '2'), { writes: ['apply pool-1', 'apply pool-2'], reported: [] })
    assert.equal(await turn('1', '2'), { writes: [], reported: [] })
    assert.is(await configurator.announces('2', signal), true)

    const change = { metadata: { annotations: { note: 'a person was here' } }, data: { address: '9', more: 'theirs' } }
    await client.patch(configMaps, { namespace: at, name: 'pool-2', patch: { merge: change } })
    assert.equal(await turn('1', '2'), { writes: ['patch pool-2'], reported: [] }, 'what is ours is put right')
    const mended = await client.get(configMaps, { namespace: at, name: 'pool-2' })
    assert.equal(mended?.data, { address: '2', more: 'theirs' }, 'and what is theirs stays')

    assert.equal(await turn('broken', '1', '3'), {
      writes: ['apply Not A Name', 'apply pool-3', 'remove pool-2'],
      reported: [{ service: 'default/broken' }],
    })
    assert.is(await configurator.announces('2', signal), false)
    const again = await configurator.carryOut(announcements('broken', '1', '3'), signal)
    assert.equal([again.isChanged, again.isRefused], [false, true])
    assert.equal((await turn()).writes, ['remove pool-1', 'remove pool-3'])
    assert.ok(await client.get(configMaps, { namespace: at, name: 'theirs' }))
  }))

test('a deletion of a watched kind is told from the first pass that finds an object, in each term', () =>
  onControlPlane(async ({ client, namespace }) => {
    const at = await namespace()
    let deletions = 0
    const configurator = configureObjects({
      client,
      configuration: { ...poolsIn(at), kinds: [{ resource: configMaps, isWatched: true }, { resource: secrets }] },
      deleted: { notify: () => (deletions += 1), client, log: silentLog },
    })
    for (let term = 1; term <= 2; term += 1) {
      const ended = new AbortController()
      // The second pass finds what the first one wrote.
      for (let pass = 0; pass < 3; pass += 1) await configurator.carryOut(announcements('1'), ended.signal)
      await eventually('the deletion is told', async () => {
        await client.remove(configMaps, { namespace: at, name: 'pool-1' })
        if (deletions >= term) return true
        await configurator.carryOut(announcements('1'), ended.signal)
        return undefined
      })
      ended.abort()
      deletions = term
    }
  }))

test('an object that may not be removed keeps no other from being written, and is told', () =>
  onControlPlane(async ({ client, namespace }) => {
    const at = await namespace()
    const refusal = new KubeError('a policy protects pool-1', { status: 403, reason: 'Forbidden' })
    const remove: typeof client.remove = async (resource, target, options) => {
      if (target.name === 'pool-1') throw refusal
      return await client.remove(resource, target, options)
    }
    const configurator = configureObjects({ client: { ...client, remove }, configuration: poolsIn(at) })
    await configurator.carryOut(announcements('1', '2'), signal)
    const { failure, isRefused } = await configurator.carryOut(announcements('3'), signal)
    assert.equal([failure, isRefused], [refusal, true])
    const left = ['pool-1', 'pool-2', 'pool-3'].map((name) => client.get(configMaps, { namespace: at, name }))
    const names = (await Promise.all(left)).map((one) => one?.metadata.name)
    assert.equal(names, ['pool-1', undefined, 'pool-3'])
    const failed = await configurator.withdraw(announcements('3'), signal).catch((error: unknown) => error)
    assert.is(failed, refusal, 'a release that waits for it must not take it for removed')
  }))

test('a namespace that does not exist is a problem of what should be written there, and stops nothing else', () =>
  onControlPlane(async ({ client, writes, namespace }) => {
    const at = await namespace()
    const configuration: ObjectConfiguration = {
      ...poolsIn(at),
      objects: () => ({ wanted: [pool('not-there', 'lost'), pool(at, '1')], problems: [] }),
    }
    const result = await configureObjects({ client, configuration }).carryOut(announcements('lost', '1'), signal)
    assert.equal(
      [result.isRefused, result.problems.map(({ subject }) => subject)],
      [true, [{ service: 'default/lost' }]],
    )
    assert.match(result.problems[0]?.message ?? '', 'namespaces "not-there" not found')
    assert.ok(writes.includes('apply pool-1'))
    assert.ok(await client.get(configMaps, { namespace: at, name: 'pool-1' }))
  }))

test('a new object is created without a field that its definition lacks, where that may be so', () =>
  onControlPlane(async ({ client, namespace }) => {
    const at = await namespace()
    const { object, subjects } = pool(at, '1')
    const wanted = [{ object: { ...object, newer: { field: true } }, subjects }]
    const carryOut = (isPruned?: true) => {
      const kinds = [{ resource: configMaps, ...(isPruned && { isPruned }) }]
      const configuration = { ...poolsIn(at), kinds, objects: () => ({ wanted, problems: [] }) }
      return configureObjects({ client, configuration }).carryOut(announcements('1'), signal)
    }
    await carryOut().catch(() => undefined)
    assert.is(await client.get(configMaps, { namespace: at, name: 'pool-1' }), undefined)
    assert.equal((await carryOut(true)).problems, [])
    assert.equal((await client.get(configMaps, { namespace: at, name: 'pool-1' }))?.data, { address: '1' })
  }))

test('software for which nothing new may be written counts as one that refused it', () =>
  onControlPlane(async ({ client, namespace }) => {
    const configuration = poolsIn(await namespace())
    const of = (isHeld: boolean) =>
      configureObjects({
        client,
        configuration: { ...configuration, objects: () => ({ wanted: [], problems: [], isHeld }) },
      }).carryOut(announcements('1'), signal)
    assert.equal([(await of(true)).isRefused, (await of(false)).isRefused], [true, false])
  }))

test('without the right to a single object all others are configured', () =>
  onControlPlane(async ({ client, controlPlane, namespace }) => {
    const at = await namespace()
    const user = serviceAccountUser('eip-admission')
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'patch', 'delete'] }]
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }]
    for (const object of bindRole({ name: 'limited', at, subjects: subjects as never, rules }))
      await client.create(resourceOf(object), object)
    const limited = connect(kubeconfig({ file: controlPlane.kubeconfigFor(user) }), { userAgent: 'test' })
    await eventually('the API server knows of the right', () =>
      limited.list(configMaps, { namespace: at }).catch(() => undefined),
    )
    const configurator = configureObjects({ client: limited, configuration: poolsIn(at) })
    const { problems, isChanged } = await configurator.carryOut(announcements('1'), signal)
    assert.equal([problems, isChanged], [[], true])
    assert.ok(await client.get(configMaps, { namespace: at, name: 'pool-1' }))
  }))

test('an object that people share is not removed with what they wrote since it was read', () =>
  onControlPlane(async ({ client, namespace }) => {
    const at = await namespace()
    const object = { ...pool(at, 'shared').object, data: {} } as ConfigMap
    const read = await client.create(configMaps, object)
    await client.patch(configMaps, { ...read.metadata, patch: { merge: { data: { more: 'theirs' } } } })
    const remove = { ...read, apiVersion: 'v1', kind: 'ConfigMap' }
    const removing = (isShared: boolean) => {
      const kinds = [{ resource: configMaps, ...(isShared && { isShared: true as const }) }]
      return carryOutChange({ client, configuration: { ...poolsIn(at), kinds } }, { remove }, signal)
    }
    const error = await removing(true).catch((reason: unknown) => reason)
    assert.ok(isConflict(error), String(error))
    await removing(false)
  }))

test('looks for a thousand addresses cost a get each, and a list for all of them together', () =>
  onControlPlane(async ({ client, lists, namespace }) => {
    const at = await namespace()
    const configurator = configureObjects({ client, configuration: poolsIn(at) })
    await configurator.carryOut(announcements('here'), signal)
    const inherited = pool(at, 'inherited').object
    const renamed = { ...inherited, metadata: { ...inherited.metadata, name: 'of-a-predecessor' } }
    await client.create(configMaps, renamed as ConfigMap)
    const looks = async (...addresses: string[]) => {
      lists.length = 0
      const fromMs = performance.now()
      const seen = await Promise.all(addresses.map((address) => configurator.announces(address, signal)))
      return { seen, lists: lists.length, seconds: (performance.now() - fromMs) / 1000 }
    }
    const here = await looks(...Array.from({ length: 20 }, () => 'here'))
    assert.equal([here.seen, here.lists], [Array.from({ length: 20 }, () => true), 0])
    const gone = await looks('inherited', ...Array.from({ length: 1000 }, (_, n) => `gone-${n}`))
    assert.equal(gone.seen, [true, ...Array.from({ length: 1000 }, () => false)], 'whatever its name is')
    // A list is good for a second, and one more may begin while it is read.
    assert.ok(gone.lists <= 3 + 2 * gone.seconds, `${gone.lists} lists in ${gone.seconds} s`)
  }))

test('a look never misses what we wrote before it, under whatever name', () =>
  onControlPlane(async ({ client, namespace }) => {
    const at = await namespace()
    const configuration = poolsIn(at)
    const renaming: ObjectConfiguration = {
      ...configuration,
      objects: ({ addresses }) => ({
        wanted: addresses.map(({ address }) => {
          const { object, subjects } = pool(at, address)
          return { object: { ...object, metadata: { ...object.metadata, name: 'of-a-predecessor' } }, subjects }
        }),
        problems: [],
      }),
    }
    const configurator = configureObjects({ client, configuration: renaming })
    assert.is(await configurator.announces('late', signal), false)
    await configurator.carryOut(announcements('late'), signal)
    assert.is(await configurator.announces('late', signal), true)
  }))

test('a look sees at once that a withdrawal took an address out of an object, under whatever name', () =>
  onControlPlane(async ({ client, namespace }) => {
    const at = await namespace()
    const { object } = pool(at, 'several')
    const configuration: ObjectConfiguration = {
      ...poolsIn(at),
      objects: ({ addresses }) => {
        const data = { addresses: addresses.map(({ address }) => address).join() }
        return { wanted: [{ object: { ...object, data } as KubeObject, subjects: [] }], problems: [] }
      },
      hasAddress: (stored, address) => (stored as ConfigMap).data?.['addresses']?.split(',').includes(address) ?? false,
    }
    const configurator = configureObjects({ client, configuration })
    await configurator.carryOut(announcements('1', '2'), signal)
    assert.is(await configurator.announces('2', signal), true)
    await configurator.withdraw(announcements('1'), signal)
    assert.equal([await configurator.announces('1', signal), await configurator.announces('2', signal)], [true, false])
  }))

test('a withdrawal removes what is no longer announced, and writes nothing that is not there', () =>
  onControlPlane(async ({ client, writes, namespace }) => {
    const at = await namespace()
    const configuration = poolsIn(at)
    await configureObjects({ client, configuration }).carryOut(announcements('1', '2'), signal)
    writes.length = 0
    const wanted = [pool(at, '1'), pool(at, 'new')]
    const withNew = { ...configuration, objects: () => ({ wanted, problems: [] }) }
    assert.is(await configureObjects({ client, configuration: withNew }).withdraw(announcements('1'), signal), true)
    assert.equal(writes, ['remove pool-2'])
  }))

test('a kind that the cluster does not know announces nothing, and is written as soon as it is known', () =>
  onControlPlane(async ({ client, writes, namespace }) => {
    const unknown = configureObjects({ client, configuration: poolsIn(await namespace(), nowhere) })
    assert.equal(await unknown.carryOut(announcements(), signal), { problems: [], isChanged: false, isRefused: false })
    assert.is(await unknown.announces('1', signal), false)
    assert.equal(writes, [])
  }))

test('peers that a predecessor wrote as v1beta1 are patched once each, and nothing else is', () =>
  onControlPlane(adoptPeers))

test.after(stopControlPlane)

test.run()
