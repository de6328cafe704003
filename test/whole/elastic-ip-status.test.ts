// The status of an ElasticIP as tools read it: kubectl wait, kstatus, selectors.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { kstatusOf } from '../kstatus/kstatus.ts'
import { provisioned } from './available-view.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer, reclaim } from './manifests.ts'
import { openStage } from './test-stage.ts'

const { here } = dialectOf('equinix-metal')
const stage = await openStage({ dialect: 'equinix-metal' })
const read = (name: string) => stage.client.get(elasticIPs, { name })

/** kstatus's current judgement of an ElasticIP. */
async function judged(name: string): Promise<string | undefined> {
  const record = await read(name)
  return record && (await kstatusOf([record]))[name]
}

/** Waits until kstatus judges an ElasticIP in this way. */
const isJudged = (name: string, wanted: string) =>
  eventually(`${name} is ${wanted}`, async (observe) => observe(await judged(name)) === wanted || undefined)

test('an ElasticIP that nothing has looked at is in progress, not current', async () => {
  const own = await stage.order()
  for (const [name, id] of [
    ['office', own.id],
    ['missing', '00000000-0000-4000-8000-000000000000'],
  ] as const)
    assert.is((await stage.kubectl(['create', '-f', '-'], provisioned(name, id))).code, 0)
  assert.is(await judged('office'), 'InProgress')
  await stage.startSwept({ env: here })
  await isJudged('office', 'Current')
  await stage.run('wait', '--for=condition=Ready', 'elasticip/office', '--timeout=60s')
})

test('an ElasticIP for a Service whose name no label can hold is read all the same', async () => {
  const { id } = await stage.order()
  const claimRef = { namespace: 'default', name: 'no Service.' }
  const manifest = { ...provisioned('odd', id), spec: { reservationID: id, claimRef } }
  assert.is((await stage.kubectl(['create', '-f', '-'], manifest)).code, 0)
  await isJudged('odd', 'Current')
  assert.is((await read('odd'))?.metadata.finalizers?.length, 1)
})

test('an ElasticIP whose reservation does not exist has failed, and says why', async () => {
  await isJudged('missing', 'Failed')
  const { status } = (await read('missing')) ?? {}
  const of = (type: string) => status?.conditions?.find((one) => one.type === type)
  for (const condition of [of('Ready'), of('Stalled')]) {
    assert.is(condition?.reason, 'NotProvisioned')
    assert.match(condition?.message ?? '', /check spec\.reservationID/)
  }
  const [header = '', line = ''] = (await stage.run('get', 'eip', 'missing')).trim().split('\n')
  assert.match(header, /PHASE +READY +REASON +RECLAIM/)
  assert.match(line, /Requested +False +NotProvisioned +Retain/)
})

test('an edit of a failed ElasticIP is judged again, also if nothing else changes', async () => {
  await stage.run('patch', 'eip', 'missing', '--type=merge', '-p', '{"spec": {"allowedNamespaces": ["shop"]}}')
  await isJudged('missing', 'Failed')
})

test('kubectl waits for the ElasticIP of a Service; an edit of its spec makes it current again', async () => {
  await stage.create(loadBalancer('web'))
  await stage.run('wait', '--for=condition=Ready', 'elasticip/default.web', '--timeout=60s')
  await isJudged('default.web', 'Current')
  await stage.run('annotate', 'service', 'web', `${reclaim}=Retain`)
  await eventually(
    'the record retains',
    async () => (await read('default.web'))?.spec.reclaimPolicy === 'Retain' || undefined,
  )
  await isJudged('default.web', 'Current')
  const { metadata, status } = (await read('default.web')) ?? {}
  assert.is(status?.observedGeneration, metadata?.generation)
  assert.ok(status?.conditions?.every(({ observedGeneration }) => observedGeneration === metadata?.generation))
  assert.not.ok(status?.conditions?.some(({ type }) => type === 'Stalled'))
})

test('conditions need no write beside those of a create and a bind', async () => {
  await stage.create(loadBalancer('counted'))
  await stage.settled('counted')
  await isJudged('default.counted', 'Current')
  const { metadata, status } = (await read('default.counted')) ?? {}
  // Created and bound: each later write of the spec would add a generation, and each write of the status a step.
  assert.is(metadata?.generation, 2)
  assert.equal(
    status?.history?.map(({ phase }) => phase),
    ['Reserved', 'Bound'],
  )
})

test('selectors find ElasticIPs by phase, address and Service', async () => {
  await stage.settled('web')
  const names = async (...selector: string[]) => (await stage.run('get', 'eip', '-o', 'name', ...selector)).trim()
  const web = 'elasticip.eip-admission.dev/default.web'
  const address = (await read('default.web'))?.status?.address ?? ''
  assert.is(await names('--field-selector', `status.address=${address}`), web)
  assert.is(await names('--field-selector', 'spec.claimRef.name=web,status.phase=Bound'), web)
  assert.is(await names('-l', 'eip-admission.dev/service-namespace=default,eip-admission.dev/service-name=web'), web)
})

test.after(() => stage.close())

test.run()
