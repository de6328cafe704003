// The condition on a Service says whether it has its address, long after its Events have expired.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addressConditionOf } from '../../ledger/record/address-use.ts'
import { addressCondition } from '../../ledger/record/names.ts'
import { entriesWithSharedFields } from '../../ledger/record/shared-fields.ts'
import { typed } from './command-line.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'
import { warned } from './warned.ts'

const { here, words } = dialectOf('equinix-metal')
const stage = await openStage({ dialect: 'equinix-metal' })
const { quota } = stage.cloud.control
// Without the webhooks the Service is stored, and the controller's claim is refused.
await stage.create(loadBalancer('web'))
quota.set(0)
const product = await stage.startSwept({ env: here, flags: ['--own-address-ranges=198.51.100.0/24'] })

const condition = async (name: string) => {
  const service = await stage.service(name)
  return service && addressConditionOf(service)
}

/** Waits until the condition of a Service has this reason. */
const hasReason = (name: string, reason: string) =>
  eventually(`the condition of ${name} is ${reason}`, async (observe) => {
    const now = observe(await condition(name))
    return now?.reason === reason ? now : undefined
  })

test('a Service that the provider refuses has the refusal in its condition', async () => {
  const { status, message } = await hasReason('web', 'Pending')
  assert.is(status, 'False')
  assert.match(message, words.quota)
})

test('kubectl waits for the condition; those of others beside it stay, and no write repeats', async () => {
  const others = {
    type: 'example.com/Other',
    status: 'True',
    reason: 'Is',
    message: '',
    lastTransitionTime: new Date(),
  }
  const patch = JSON.stringify({ status: { conditions: [others] } })
  await stage.run('patch', 'service', 'web', '--subresource=status', '--type=strategic', '-p', patch)
  quota.set(256)
  await stage.run('wait', `--for=condition=${addressCondition}`, 'service/web', '--timeout=120s')
  const address = await stage.settled('web')
  const { message } = await hasReason('web', 'AddressShown')
  assert.is(message, `The status shows ${address}`)
  const { metadata, status } = await eventually('its last write, of managed fields, has come', async () => {
    const web = await stage.service('web')
    return entriesWithSharedFields(web?.metadata.managedFields).length === 0 ? web : undefined
  })
  assert.equal(status?.conditions?.map(({ type }) => type).toSorted(), [addressCondition, others.type].toSorted())
  // The next Service's condition is written after any repeated write for this one.
  await stage.create(loadBalancer('next'))
  await hasReason('next', 'AddressShown')
  assert.is((await stage.service('web'))?.metadata.resourceVersion, metadata.resourceVersion)
})

test('a create writes its record four times, and its address together with its condition', async () => {
  await hasReason('next', 'AddressShown')
  const address = await stage.settled('next')
  const log = readFileSync(stage.logOf('eip-admission'), 'utf8')
  const calls = [...log.matchAll(/call to the API server (\{.*"result":"ok".*\})$/gm)].map(
    ([, fields = '']) => JSON.parse(fields) as { call: string; object?: string },
  )
  const ofRecord = calls.filter(({ call }) => /^(create|replace|patch) ElasticIP default\.next$/.test(call))
  assert.is(ofRecord.length, 4, ofRecord.map(({ call }) => call).join())
  // On a busy machine, an earlier condition may say that the address is not shown yet.
  const showing = calls.filter(({ call, object }) => call === 'patch Service default/next' && object?.includes(address))
  assert.is(showing.length, 1)
  assert.match(showing[0]?.object ?? '', 'AddressShown')
})

test('a Service that is no LoadBalancer any more has no condition of ours', async () => {
  await stage.run('patch', 'service', 'web', '-p', '{"spec":{"type":"ClusterIP"}}')
  await eventually('it is removed', async (observe) => observe(await condition('web')) === undefined || undefined)
  const { status } = (await stage.service('web')) ?? {}
  assert.equal(
    status?.conditions?.map(({ type }) => type),
    ['example.com/Other'],
  )
})

test('a Service of another class has none', async () => {
  const spec = { loadBalancerClass: 'example.com/other' }
  await stage.create(loadBalancer('foreign', { spec }))
  await stage.create(loadBalancer('later'))
  await hasReason('later', 'AddressShown')
  assert.is(await condition('foreign'), undefined)
})

test('two Services with one own address and one port: the second waits, reports it everywhere, and follows the first', async () => {
  const spec = { loadBalancerIP: '198.51.100.7' }
  await stage.create(loadBalancer('first', { spec }))
  await stage.create(loadBalancer('beside', { spec: { ...spec, ports: [{ port: 53, protocol: 'UDP' }] } }))
  for (const name of ['first', 'beside']) await hasReason(name, 'AddressShown')
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('second', { spec }))
  assert.is(code, 0)
  const words = /is used by Service default\/first on port 80\/TCP too: change the port/
  assert.match(stderr, words)
  assert.match((await hasReason('second', 'NotAnnounced')).message, words)
  await warned(stage, 'default/second', words)
  assert.is(shownIn(await stage.service('second')), undefined)
  await stage.run('delete', 'service', 'first', '--timeout=120s')
  await hasReason('second', 'AddressShown')
  assert.is(shownIn(await stage.service('second')), spec.loadBalancerIP)
})

test('cleanup removes the condition with the finalizer', async () => {
  await hasReason('next', 'AddressShown')
  await product.stop()
  const { code, stdout } = await typed(['cleanup', `--kubeconfig=${stage.controlPlane.kubeconfig}`, '--yes'])
  assert.is(code, 0, stdout)
  const next = await stage.service('next')
  assert.equal([next?.metadata.finalizers, next?.status?.conditions], [undefined, undefined])
})

test.after(() => stage.close())

test.run()
