// The commands that write, against the ledger: raced by Services, and killed in the middle.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeClient } from '../../kube/client.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { retain } from '../../ledger/release/release.ts'
import { adopt, provisionedRecord } from '../../kubectl-eip/adopt.ts'
import { Refusal } from '../../kubectl-eip/io.ts'
import { move } from '../../kubectl-eip/move.ts'
import { release } from '../../kubectl-eip/release.ts'
import { makeReservation } from '../builders.ts'
import { makeHarness, neverAborted } from '../ledger/harness.ts'

/** A cluster with an address that is kept for default/web, and a person at a terminal. */
async function kept() {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim()
  await retain(process.deps, harness.record() as ElasticIP, neverAborted)
  const before: { [verb in 'create' | 'patch' | 'remove']?: (() => Promise<unknown>) | undefined } = {}
  const { client: stored } = harness.api
  const leader = { acts: true }
  const reconcileAll = async () => {
    if (!leader.acts) return
    for (const { metadata } of harness.api.stored(elasticIPs)) {
      await process.reconcile(metadata.name.replace('.', '/')).catch(() => undefined)
      await process.reconcileSource(metadata.name).catch(() => undefined)
    }
  }
  const once = async (verb: keyof typeof before) => {
    const work = before[verb]
    before[verb] = undefined
    await work?.()
  }
  // The controllers act between any two looks.
  const client: KubeClient = {
    ...stored,
    get: async (...args) => {
      await reconcileAll()
      return stored.get(...args)
    },
    create: async (...args) => {
      await once('create')
      return stored.create(...args)
    },
    patch: async (...args) => {
      await once('patch')
      return stored.patch(...args)
    },
    remove: async (...args) => {
      await once('remove')
      return stored.remove(...args)
    },
  }
  const said: string[] = []
  const say = (text: string) => void said.push(text)
  const answers: string[] = []
  const ask = () => Promise.resolve(answers.shift() ?? '')
  return {
    harness,
    process,
    before,
    leader,
    answers,
    said,
    cluster: { client, namespace: 'default', now: harness.now(), serverTime: async () => harness.now() },
    io: { print: say, printError: say, ask },
    eip: (name: string) => harness.api.stored(elasticIPs).find(({ metadata }) => metadata.name === name),
    address: harness.record()?.status?.address ?? '',
  }
}

type Scene = Awaited<ReturnType<typeof kept>>

const killed = () => Promise.reject(new Error('killed'))

async function refusal(command: Promise<void>): Promise<string> {
  const [{ status, ...result }] = await Promise.allSettled([command])
  assert.is(status, 'rejected')
  const { reason } = result as { reason: unknown }
  assert.instance(reason, Refusal)
  return (reason as Refusal).message
}

const toTill = { from: 'default.web', to: 'shop/till', yes: true, waitMs: 60_000 }

test('move gives a kept address a provisioned ElasticIP, without a call to the provider', async () => {
  const { cluster, io, eip, harness, address, said } = await kept()
  await move(cluster, toTill, io)
  const provisioned = eip('shop-till')
  assert.equal([provisioned?.status?.phase, provisioned?.status?.address], ['Available', address])
  assert.equal(provisioned?.spec.claimRef, { namespace: 'shop', name: 'till' })
  assert.is(harness.record(), undefined)
  assert.is(harness.cloud.calls.release, 0)
  assert.match(
    said.at(-1) ?? '',
    'Service shop/till gets it with the annotation eip-admission.dev/elastic-ip: shop-till',
  )
})

test('a move to a Service with long names gives the new ElasticIP a short one', async () => {
  const { cluster, io, said } = await kept()
  await move(cluster, { ...toTill, to: `${'n'.repeat(40)}/${'s'.repeat(40)}` }, io)
  assert.match(said.at(-1) ?? '', /eip-admission.dev\/elastic-ip: moved-[\da-f]{8}/)
})

test('a move that is killed between its writes loses nothing, and is completed by the next one', async () => {
  const { cluster, io, eip, harness, before, address } = await kept()
  before.remove = killed
  await failsWith(move(cluster, toTill, io), 'killed')
  assert.is(harness.record()?.status?.phase, 'Released')
  assert.is(eip('shop-till')?.status?.address, undefined)
  await move(cluster, toTill, io)
  assert.is(eip('shop-till')?.status?.address, address)
  assert.is(harness.cloud.calls.release, 0)
})

test('a move that no leader completes in time says that it continues, and what must stay for it', async () => {
  const { cluster, io, eip, harness, leader, said, address } = await kept()
  leader.acts = false
  await move(cluster, { ...toTill, waitMs: 0 }, io)
  const text = said.at(-1) ?? ''
  assert.match(text, `The move of ${address} to Service shop/till is requested, and continues without this command`)
  assert.match(text, 'Do not delete ElasticIP shop-till: it keeps the reservation')
  assert.not.match(said.join(''), 'kubectl delete')
  leader.acts = true
  await cluster.client.get(elasticIPs, { name: 'shop-till' })
  await cluster.client.get(elasticIPs, { name: 'shop-till' })
  assert.equal([eip('shop-till')?.status?.phase, eip('shop-till')?.status?.address], ['Available', address])
  assert.equal([harness.record(), harness.cloud.calls.release], [undefined, 0])
})

test('a move whose Service claims the address at once is complete', async () => {
  const { cluster, io, eip, harness, leader, before, said, address } = await kept()
  leader.acts = false
  before.remove = async () => {
    const created = eip('shop-till') as ElasticIP
    harness.api.put(elasticIPs, { ...created, status: { phase: 'Bound', address } })
  }
  await move(cluster, { ...toTill, waitMs: 0 }, io)
  assert.match(said.at(-1) ?? '', `ElasticIP shop-till has ${address}. Service shop/till gets it`)
})

test('a move whose new ElasticIP another person deletes does not say that it continues', async () => {
  const { cluster, io, eip, leader, before } = await kept()
  leader.acts = false
  before.remove = () => cluster.client.remove(elasticIPs, { name: 'shop-till' })
  assert.match(await refusal(move(cluster, toTill, io)), 'ElasticIP shop-till no longer exists: it was deleted')
  assert.is(eip('shop-till'), undefined)
})

test('a Service that takes its kept address back in the middle of a move keeps it', async () => {
  const { cluster, io, eip, harness, before, process, address } = await kept()
  before.remove = () => process.claim()
  assert.match(await refusal(move(cluster, toTill, io)), 'has just changed')
  assert.is(eip('shop-till'), undefined)
  assert.equal([harness.record()?.status?.phase, harness.record()?.status?.address], ['Reserved', address])
  assert.is(harness.cloud.calls.release, 0)
})

/** Another person's move of the kept address: it creates the same ElasticIP, and requests the deletion of the record. */
function anotherMove({ harness }: Scene) {
  const { client } = harness.api
  const reservationID = harness.record()?.status?.reservationID ?? ''
  const claimRef = { namespace: 'shop', name: 'till' }
  const spec = { reservationID, location: 'da', reclaimPolicy: 'Retain', claimRef } as const
  return {
    create: () => client.create(elasticIPs, provisionedRecord('shop-till', spec)),
    remove: () => client.remove(elasticIPs, { name: 'default.web' }),
  }
}

for (const creator of ['the first one', 'the second one'])
  test(`two people move one address at once, and ${creator} creates its ElasticIP: nothing is lost`, async () => {
    const scene = await kept()
    const { cluster, io, eip, harness, before, address } = scene
    const other = anotherMove(scene)
    if (creator === 'the first one') before.create = other.create
    before.remove = other.remove
    await move(cluster, toTill, io)
    assert.equal([eip('shop-till')?.status?.phase, eip('shop-till')?.status?.address], ['Available', address])
    assert.is(harness.record(), undefined)
    assert.is(harness.cloud.calls.release, 0)
  })

test('a move that fails leaves the ElasticIP that another one created', async () => {
  const scene = await kept()
  const { cluster, io, eip, before, process } = scene
  before.create = anotherMove(scene).create
  before.remove = () => process.claim()
  assert.match(await refusal(move(cluster, toTill, io)), 'has just changed')
  assert.ok(eip('shop-till'))
})

test('a move does not take over an ElasticIP of the same name', async () => {
  const { cluster, io, harness } = await kept()
  harness.cloud.put(makeReservation({ id: 'own', address: '198.51.100.7' }))
  await adopt(cluster, { what: 'own', name: 'shop-till', allowed: [], waitMs: 60_000 }, io)
  assert.match(await refusal(move(cluster, toTill, io)), 'choose another name with --name')
  assert.is(harness.record()?.status?.phase, 'Released')
  await move(cluster, { ...toTill, name: 'other' }, io)
})

test('who claims a provisioned address in the middle of a move keeps it', async () => {
  const { cluster, io, eip, harness, before, process } = await kept()
  harness.cloud.put(makeReservation({ id: 'own', address: '198.51.100.7' }))
  await adopt(cluster, { what: 'own', name: 'office', allowed: [], waitMs: 60_000 }, io)
  before.patch = () => process.claim({ key: 'default/quick', elasticIP: 'office' })
  assert.match(await refusal(move(cluster, { ...toTill, from: 'office' }, io)), 'has just changed')
  assert.is(eip('office')?.spec.claimRef?.name, 'quick')
})

for (const allowed of [[], ['default', 'shop']])
  test(`a move that is killed while an address changes its Service opens it to nobody (${allowed.join()})`, async () => {
    const { cluster, io, eip, harness, before, process } = await kept()
    harness.cloud.put(makeReservation({ id: 'own', address: '198.51.100.7' }))
    await adopt(cluster, { what: 'own', name: 'office', service: 'desk', allowed, waitMs: 60_000 }, io)
    const { spec } = eip('office') ?? {}
    before.patch = async () => void (before.patch = killed)
    await failsWith(move(cluster, { ...toTill, from: 'office' }, io), 'killed')
    for (const key of ['default/desk', 'default/quick', 'shop/till'])
      assert.is((await process.claim({ key, elasticIP: 'office' })).kind, 'refused', key)
    await move(cluster, { ...toTill, from: 'office' }, io)
    assert.equal(eip('office')?.spec, { ...spec, claimRef: { namespace: 'shop', name: 'till' } })
    assert.equal(eip('office')?.metadata.annotations ?? {}, {})
    assert.is((await process.claim({ key: 'shop/till', elasticIP: 'office' })).kind, 'held')
  })

test('what a person allows after such a kill counts', async () => {
  const { cluster, io, eip, harness, before } = await kept()
  harness.cloud.put(makeReservation({ id: 'own', address: '198.51.100.7' }))
  await adopt(cluster, { what: 'own', name: 'office', service: 'desk', allowed: [], waitMs: 60_000 }, io)
  before.patch = async () => void (before.patch = killed)
  await failsWith(move(cluster, { ...toTill, from: 'office' }, io), 'killed')
  const merge = { spec: { allowedNamespaces: ['shop'] } }
  await cluster.client.patch(elasticIPs, { name: 'office', patch: { merge } })
  await move(cluster, { ...toTill, from: 'office' }, io)
  assert.equal(eip('office')?.spec.allowedNamespaces, ['shop'])
})

test('a provisioned address that nobody has moves from one Service to another', async () => {
  const { cluster, io, eip, harness } = await kept()
  harness.cloud.put(makeReservation({ id: 'own', address: '198.51.100.7' }))
  await adopt(cluster, { what: 'own', name: 'office', service: 'desk', allowed: [], waitMs: 60_000 }, io)
  assert.equal(eip('office')?.spec.claimRef, { namespace: 'default', name: 'desk' })
  await move(cluster, { ...toTill, from: '198.51.100.7' }, io)
  assert.equal(eip('office')?.spec.claimRef, { namespace: 'shop', name: 'till' })
})

test('release deletes what a person has confirmed by its address', async () => {
  const { cluster, io, harness, answers, address } = await kept()
  const command = { name: 'default/web', yes: false, waitMs: 60_000 }
  for (const answer of ['', 'y', 'yes', 'default.web']) {
    answers.push(answer)
    assert.match(await refusal(release(cluster, command, io)), 'nothing was changed')
  }
  assert.is(harness.cloud.calls.release, 0)
  answers.push(`${address}\n`)
  await release(cluster, command, io)
  assert.equal([harness.record(), harness.reservationsOf()], [undefined, []])
})

for (const [name, command] of [
  ['release', (scene: Scene) => release(scene.cluster, { name: 'web', yes: true, waitMs: 0 }, scene.io)],
  ['move', (scene: Scene) => move(scene.cluster, { ...toTill, from: 'web' }, scene.io)],
] as const) {
  test(`${name} takes the Service of the person's namespace`, async () => {
    const scene = await kept()
    await command(scene)
    const left = scene.eip('default.web')
    assert.ok(!left || left.metadata.deletionTimestamp)
  })

  test(`${name} does nothing where a word is a Service and an ElasticIP, and says how to name each`, async () => {
    const scene = await kept()
    const { cluster, io, harness, address } = scene
    harness.cloud.put(makeReservation({ id: 'own', address: '198.51.100.7' }))
    await adopt(cluster, { what: 'own', name: 'web', allowed: [], waitMs: 60_000 }, io)
    const before = harness.api.stored(elasticIPs)
    const message = await refusal(command(scene))
    assert.match(message, 'web (write its address, 198.51.100.7)')
    assert.match(message, 'default.web (write default/web)')
    assert.equal(harness.api.stored(elasticIPs), before)
    assert.is(harness.record()?.status?.address, address)
  })
}

test('release without a person to ask needs --yes', async () => {
  const { cluster, io, address } = await kept()
  const command = release(cluster, { name: address, yes: false, waitMs: 0 }, { ...io, ask: undefined })
  assert.match(await refusal(command), 'add --yes to confirm')
})

test('a Service that takes its kept address back while a person confirms keeps it', async () => {
  const { cluster, io, harness, before, process, address } = await kept()
  before.remove = () => process.claim()
  const command = release(cluster, { name: address, yes: true, waitMs: 60_000 }, io)
  assert.match(await refusal(command), 'has just changed')
  assert.is(harness.record()?.status?.address, address)
  assert.is(harness.cloud.calls.release, 0)
})

test('adopt says why a reservation cannot be used', async () => {
  const { cluster, io } = await kept()
  const command = adopt(cluster, { what: 'nowhere', name: 'office', allowed: [], waitMs: 0 }, io)
  assert.match(await refusal(command), 'has no reservation nowhere of public addresses in this project')
})

async function failsWith(command: Promise<void>, message: string): Promise<void> {
  const [result] = await Promise.allSettled([command])
  assert.match(result.status === 'rejected' ? String(result.reason) : 'fulfilled', message)
}

test.run()
