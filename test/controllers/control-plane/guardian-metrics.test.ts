import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Guardian } from '../../../controllers/control-plane/lead-loop.ts'
import { knownAddress } from '../../../controllers/control-plane/known-address.ts'
import { readGuardian } from '../../../controllers/control-plane/guardian-metrics.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'

const { signal } = new AbortController()
const loop = { holder: () => undefined, problem: () => 'the provider could not be read' } as Guardian

function scene() {
  const world = { ms: 0, isReadable: true, isLeader: false }
  const known = knownAddress({
    port: {
      name: 'tag eip',
      list: () =>
        world.isReadable
          ? Promise.resolve([{ id: '1', address: '203.0.113.1', machines: ['m1'] }])
          : Promise.reject(new Error('no way')),
      read: () => Promise.reject(new Error('no way')),
    },
    now: () => world.ms,
  })
  const metrics = makeMetrics()
  readGuardian(metrics, { known, leading: () => (world.isLeader ? loop : undefined), now: () => world.ms })
  const value = async (name: string) =>
    new RegExp(String.raw`^eip_admission_control_plane_${name} (\S+)$`, 'm').exec(await metrics.text())?.[1]
  return { world, known, value, readAge: () => value('cloud_read_age_seconds') }
}

test('a guardian that has not read the provider yet shows no age', async () => {
  assert.is(await scene().readAge(), undefined)
})

test('each guardian shows when it last read the provider, anyone who leads and whatever it forgot', async () => {
  const { world, known, readAge } = scene()
  await known.find(signal)
  world.ms = 90_000
  assert.is(await readAge(), '90', 'another one leads')
  Object.assign(world, { ms: 700_000, isLeader: true, isReadable: false })
  known.forget()
  await known.find(signal).catch(() => undefined)
  assert.is(known.ageMs(), Infinity, 'a move needs a new look')
  assert.is(await readAge(), '700', 'it leads, and cannot read')
  Object.assign(world, { ms: 720_000, isReadable: true })
  await known.find(signal)
  assert.is(await readAge(), '0')
})

test('only the guardian that leads has a problem', async () => {
  const { world, value } = scene()
  assert.is(await value('problem'), '0')
  world.isLeader = true
  assert.is(await value('problem'), '1')
})

test.run()
