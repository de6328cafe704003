import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, Problem } from '../../../announcers/announcer.ts'
import { announcing, announcingKey } from '../../../controllers/announcing/announcing.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { ConfigureResult } from '../../../controllers/announcing/configurator.ts'

const signal = new AbortController().signal
const address = '203.0.113.40'
const shown: Announcements = { addresses: [{ address, services: ['default/web'] }], nodes: [] }
const settled: ConfigureResult = { problems: [], isChanged: false, isRefused: false }
const nothing: Announcements = { addresses: [], nodes: [] }

function scene(answer: () => Promise<ConfigureResult> = () => Promise.resolve(settled)) {
  const reported: Problem[] = []
  const world = { state: shown, written: nothing, ms: 0 }
  const reconciler = announcing({
    state: () => world.state,
    showing: (asked) => world.state.addresses.filter((one) => one.address === asked).flatMap((one) => one.services),
    report: (problem) => reported.push(problem),
    now: () => world.ms,
    configurator: {
      async carryOut(state) {
        const configured = await answer()
        world.written = state
        return configured
      },
      announces: (asked) => Promise.resolve(world.written.addresses.some((one) => one.address === asked)),
    },
  })
  return {
    world,
    reported,
    pass: () => reconciler.reconcile(announcingKey, signal),
    begin: () => reconciler.begin(),
    reconcile: (ended: AbortSignal) => reconciler.reconcile(announcingKey, ended),
    findAnnouncement: () => reconciler.findAnnouncement(address, signal),
  }
}

test('an address counts as announced while our caches contain it, and while it is written', async () => {
  const { world, pass, findAnnouncement } = scene()
  assert.equal(await findAnnouncement(), { services: ['default/web'] })
  await pass()
  world.state = nothing
  assert.equal(await findAnnouncement(), { services: [] }, 'not withdrawn yet')
  await pass()
  assert.is(await findAnnouncement(), undefined)
})

test('an address counts as announced while a reconcile runs that began when a Service showed it', async () => {
  let finish: (configured: ConfigureResult) => void = () => undefined
  const { world, pass, findAnnouncement } = scene(() => new Promise((resolve) => (finish = resolve)))
  const running = pass()
  world.state = nothing
  assert.equal(await findAnnouncement(), { services: [] })
  finish({ ...settled, isChanged: true })
  await running
  assert.equal(await findAnnouncement(), { services: [] }, 'that reconcile wrote it')
})

test('after a failed reconcile only what is written counts', async () => {
  const { world, pass, findAnnouncement } = scene(() => Promise.reject(new Error('no API server')))
  await pass().catch(() => undefined)
  world.state = nothing
  assert.is(await findAnnouncement(), undefined)
})

test('a problem is reported once, and again after it no longer exists', async () => {
  const problem = { subject: { service: 'default/web' }, message: 'refused: [wrong name, wrong port]' }
  const otherwise = { ...problem, message: 'refused: [wrong port, wrong name]' }
  const answers = [[problem], [otherwise], [], [problem]]
  const { pass, reported } = scene(() => Promise.resolve({ ...settled, problems: answers.shift() ?? [] }))
  for (const counted of [1, 1, 1, 2]) {
    await pass()
    assert.is(reported.length, counted)
  }
})

test('a problem that lasts is reported again every ten minutes', async () => {
  const problem = { subject: { service: 'default/web' }, message: 'refused' }
  const { pass, reported, world } = scene(() => Promise.resolve({ ...settled, problems: [problem] }))
  const counts = []
  for (const minutes of [0, 9, 10, 11, 20]) {
    world.ms = minutes * 60_000
    await pass()
    counts.push(reported.length)
  }
  assert.equal(counts, [1, 1, 2, 2, 3])
})

test('a problem that may pass automatically is reported when it stays, and looked at again until then', async () => {
  const problem = { subject: { node: 'node-a' }, message: 'sync state error', mayPass: true } as const
  const answers = [[problem], [], [problem], [problem], [problem]]
  const { pass, reported, world } = scene(() => Promise.resolve({ ...settled, problems: answers.shift() ?? [] }))
  const counts = []
  for (const ms of [0, 40_000, 50_000, 60_000, 90_000]) {
    world.ms = ms
    const { againInMs } = await pass()
    counts.push([againInMs !== undefined, reported.length])
  }
  assert.equal(counts, [
    [true, 0],
    [false, 0],
    [true, 0],
    [true, 0],
    [true, 1],
  ])
})

test('a problem that a previous term saw must stay in this one before it is reported', async () => {
  const problem = { subject: { node: 'node-a' }, message: 'sync state error', mayPass: true } as const
  const { pass, begin, reported, world } = scene(() => Promise.resolve({ ...settled, problems: [problem] }))
  await pass()
  world.ms = 90_000
  begin()
  await pass()
  assert.equal(reported, [])
  world.ms = 180_000
  await pass()
  assert.equal(reported, [problem])
})

/** The reports after passes at these times, of which each fails like this. */
async function reportedAfter(failure: Error, { ended = signal }: { ended?: AbortSignal } = {}): Promise<Problem[]> {
  const { reported, world, reconcile } = scene(() => Promise.reject(failure))
  for (const ms of [0, 15_000, 30_000]) {
    world.ms = ms
    const failed = await reconcile(ended).catch((caught: unknown) => caught)
    assert.is(failed, failure, 'it is retried as any error')
  }
  return reported
}

test('a failure that stopped nothing else is thrown once the problems are reported, each of them once', async () => {
  const problem = { subject: { node: 'node-a' }, message: 'refused' }
  const failure = kubeError(403, 'Forbidden')
  const { reported, world, reconcile } = scene(() => Promise.resolve({ ...settled, problems: [problem], failure }))
  for (const ms of [0, 15_000, 30_000, 45_000]) {
    world.ms = ms
    assert.is(await reconcile(signal).catch((caught: unknown) => caught), failure)
  }
  assert.equal(
    reported.map(({ subject }) => subject),
    [{ node: 'node-a' }, { service: 'default/web' }],
  )
})

const kubeError = (status: number, reason: string) => new KubeError(`refused as ${reason}`, { status, reason })

test('what keeps every address from being announced is reported on each Service when it stays', async () => {
  const text = 'the announcements could not be updated'
  for (const error of [kubeError(500, 'InternalError'), new Error('ConfigMap m/c does not exist')]) {
    const [problem, ...others] = await reportedAfter(error)
    assert.equal(others, [])
    assert.equal(problem, { subject: { service: 'default/web' }, message: `${text}: ${error.message}`, mayPass: true })
  }
})

test('a race, an end and an API server that does not work say nothing about the announcing software', async () => {
  for (const error of [
    kubeError(409, 'Conflict'),
    kubeError(0, 'Unreachable'),
    kubeError(401, 'Unauthorized'),
    kubeError(429, 'TooManyRequests'),
    kubeError(503, 'ServiceUnavailable'),
    new AggregateError([kubeError(503, 'ServiceUnavailable'), kubeError(409, 'Conflict')], '2 of 2 failed'),
  ])
    assert.equal(await reportedAfter(error), [], error.message)
  assert.equal(await reportedAfter(new Error('aborted'), { ended: AbortSignal.abort() }), [])
})

test('an error that ends before it is reported was none', async () => {
  const answers = [true, false, true, false]
  const { reported, world, reconcile } = scene(() =>
    answers.shift() ? Promise.reject(kubeError(500, 'InternalError')) : Promise.resolve(settled),
  )
  for (const ms of [0, 20_000, 40_000, 60_000]) {
    world.ms = ms
    await reconcile(signal).catch(() => undefined)
  }
  assert.equal(reported, [])
})

test('after a write the verdict of the software is read soon', async () => {
  const changes = [true, false]
  const { pass } = scene(() => Promise.resolve({ ...settled, isChanged: changes.shift() ?? false }))
  assert.equal(await pass(), { againInMs: 2_000 })
  assert.equal(await pass(), {})
})

test('a refused write is retried later than the verdict on a write is read', async () => {
  const { pass } = scene(() => Promise.resolve({ ...settled, isRefused: true }))
  assert.equal(await pass(), { againInMs: 10_000 })
})

test.run()
