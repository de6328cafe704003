import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ControllerDeclaration, defineController } from '../../../controllers/loop/controller.ts'
import { type Outcome, Terminal, Unsettled } from '../../../controllers/loop/reconciler.ts'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { failureNews } from '../../../controllers/loop/failure-news.ts'
import { watch } from '../../../controllers/loop/watch.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { silentLog } from '../../fakes/log.ts'
import { noObserver } from '../../fakes/observer.ts'
import type { Clock } from '../../../kube/clock.ts'
import { KubeError } from '../../../kube/errors.ts'
import { responseError } from '../../../kube/response.ts'

type Reported = { key: string; message: string }

/** A controller whose reconciles end as the test says, and what it reports, logs and counts. */
function makeController(
  end: (key: string, count: number) => Outcome,
  more: Partial<ControllerDeclaration> = {},
  clock?: Clock,
) {
  const stop = new AbortController()
  const reconciled: string[] = []
  const results: string[] = []
  const counts = { added: 0, retried: 0, waited: 0 }
  const reported: Reported[] = []
  const warnings: { text: string; error?: string; againInMs?: number; keys?: number; failures?: number }[] = []
  let arrived = Promise.withResolvers<void>()
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (fields: object, text: string) => void warnings.push({ ...fields, text }),
  }
  const controller = defineController(
    {
      reconciler: {
        name: 'test',
        async reconcile(key) {
          reconciled.push(key)
          return end(key, reconciled.filter((other) => other === key).length)
        },
      },
      keys: () => ['a'],
      retry: { firstMs: 1, maxMs: 4 },
      report: (key, message) => void reported.push({ key, message }),
      ...more,
    },
    {
      log,
      ...(clock && { clock }),
      observer: (name) => ({
        begun: () => (result) => {
          results.push(`${name} ${result}`)
          arrived.resolve()
        },
        added: () => counts.added++,
        retried: () => counts.retried++,
        waited: () => counts.waited++,
      }),
    },
  )
  return {
    controller,
    reconciled,
    results,
    counts,
    reported,
    warnings,
    run: async (count: number) => {
      const running = controller.run(stop.signal)
      while (results.length < count) {
        await arrived.promise
        arrived = Promise.withResolvers()
      }
      stop.abort()
      await running
    },
  }
}

test('a start prepares, waits for what it needs, then reconciles every key', async () => {
  const order: string[] = []
  const { run, reconciled } = makeController(() => ({}), {
    prepare: async () => void order.push('prepared'),
    needs: [{ synced: async () => void order.push('synced') }],
    keys: () => {
      order.push('keys')
      return ['a', 'b']
    },
  })
  await run(2)
  assert.equal(
    [order, reconciled],
    [
      ['prepared', 'synced', 'keys'],
      ['a', 'b'],
    ],
  )
})

test('each term begins with the existing keys, and without the back-off and the disputes of the previous one', async () => {
  const terms: string[][] = []
  const reconciler = {
    name: 'test',
    keepOnly: (existing: ReadonlySet<string>) => void terms.push([...existing]),
    async reconcile(): Promise<never> {
      throw new Error('down')
    },
  }
  const clock = fakeClock()
  const waits: unknown[] = []
  const warned = (fields: object) => void waits.push('againInMs' in fields && fields.againInMs)
  const observer = noObserver
  const controller = defineController(
    { reconciler, keys: () => ['a', 'b'].slice(terms.length), retry: { firstMs: 1_000, maxMs: 60_000 } },
    { log: { ...silentLog, warn: warned, debug: warned }, observer, clock },
  )
  for (const passMs of [30_000, 0]) {
    const term = new AbortController()
    const running = controller.run(term.signal)
    await clock.pass(passMs)
    term.abort()
    await running
  }
  assert.equal(terms, [['a', 'b'], ['b']])
  assert.ok(Number(waits.at(-1)) <= 2_000, `the second term begins with ${String(waits.at(-1))} ms`)
})

test('a change adds the keys that it concerns, a delayed one later', async () => {
  const listeners: ((key: string) => void)[] = []
  const source = { onChange: (listener: (key: string) => void) => void listeners.push(listener) }
  const change = (key: string) => {
    for (const listener of listeners) listener(key)
  }
  const { run, reconciled } = makeController(
    (key) => {
      if (key === 'a') change('b')
      return {}
    },
    { watches: [watch(source, (key) => [`${key}-later`], 5), watch(source, (key) => [key, `${key}-too`])] },
  )
  await run(4)
  assert.equal(reconciled, ['a', 'b', 'b-too', 'b-later'])
})

test('a change counts from the start on, and until the end: before and after, the keys that exist are enough', async () => {
  const listeners: ((key: string) => void)[] = []
  const source = { onChange: (listener: (key: string) => void) => void listeners.push(listener) }
  const change = (key: string) => {
    for (const listener of listeners) listener(key)
  }
  function* keys() {
    yield 'a'
    change('changed-meanwhile')
    yield 'b'
  }
  const { controller, run, reconciled, counts } = makeController(() => ({}), {
    watches: [watch(source, (key) => [key])],
    prepare: async () => change('changed-before-keys'),
    keys,
  })
  for (let n = 0; n < 100; n += 1) change(`gone-${n}`)
  assert.equal([controller.queueLength, counts.added], [0, 0])
  await run(4)
  assert.equal(reconciled, ['changed-before-keys', 'a', 'changed-meanwhile', 'b'])
  change('gone')
  assert.is(controller.queueLength, 0)
})

test('a settled key is due again after the resync period, or when its reconcile says', async () => {
  const resync = makeController(() => ({}), { resyncMs: 1 })
  await resync.run(3)
  assert.equal(resync.reconciled, ['a', 'a', 'a'])
  const own = makeController(() => ({ againInMs: 1 }), { resyncMs: 3_600_000 })
  await own.run(3)
  assert.equal(own.reconciled, ['a', 'a', 'a'])
})

test('an error is reported, logged, counted, and retried with back-off', async () => {
  const { run, results, counts, reported, warnings } = makeController((_key, count) => {
    if (count === 1) throw new Error('the provider is down')
    return {}
  })
  await run(2)
  assert.equal(results, ['test error', 'test ok'])
  assert.equal(counts, { added: 2, retried: 1, waited: 2 })
  assert.equal(reported, [{ key: 'a', message: 'the provider is down' }])
  assert.equal([warnings[0]?.text, warnings[0]?.error], ['reconcile failed', 'the provider is down'])
})

test('after a success the back-off begins again', async () => {
  const faults = ['one', 'two', 'three', 'four', undefined, 'five']
  const { run, warnings } = makeController(
    (_key, count) => {
      const fault = faults[count - 1]
      if (fault === undefined) return { againInMs: 1 }
      throw new Error(fault)
    },
    { retry: { firstMs: 2, maxMs: 1_000 } },
  )
  await run(6)
  const [, , , fourth = 0, afterwards = 0] = warnings.map(({ againInMs }) => againInMs)
  assert.ok(fourth >= 8 && afterwards <= 2, `${fourth} ms, then ${afterwards} ms`)
})

test('the same failure of a key is logged once a minute, and again after a success or for another reason', async () => {
  const reasons = ['down', 'down', 'down', 'full', undefined, 'full']
  const { run, warnings } = makeController((_key, count) => {
    const reason = reasons[count - 1]
    if (reason !== undefined) throw new Error(reason)
    return { againInMs: 1 }
  })
  await run(reasons.length)
  assert.equal(
    warnings.map(({ error }) => error),
    ['down', 'full', 'full'],
  )
  let nowMs = 0
  const news = failureNews({ now: () => nowMs })
  const at = (ms: number) => {
    nowMs = ms
    return news.failed('a', 'down')?.failures
  }
  assert.equal([at(0), at(30_000), at(59_999), at(60_000), at(61_000)], [1, undefined, undefined, 3, undefined])
})

test('keys that fail alike are one line a minute with their count, even if the message names each', async () => {
  const clock = fakeClock()
  const keys = Array.from({ length: 50 }, (_, n) => `default/web-${n}`)
  const id = (key: string) => `3b241101-e2bb-4255-8caf-${key.length.toString(16).padStart(12, 'a')}`
  const { controller, warnings, reconciled } = makeController(
    (key) => {
      throw new Error(`Service ${key}: GET /ips/${id(key)} took ${reconciled.length} ms: the provider is down`)
    },
    { keys: () => keys, retry: { firstMs: 10_000, maxMs: 10_000 } },
    clock,
  )
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  for (let seconds = 0; seconds < 4 * 60; seconds += 1) await clock.pass(1_000)
  stop.abort()
  await running
  assert.ok(reconciled.length > 500)
  const [first, second, ...others] = warnings
  assert.equal([first?.keys, first?.failures], [undefined, undefined])
  assert.is(second?.keys, 50)
  assert.ok((second?.failures ?? 0) > 100)
  assert.ok(others.length === 1 || others.length === 2, `${others.length} more lines`)
})

test('a failure of another kind is a line at once, and so is the first one after all keys succeeded', () => {
  const news = failureNews({ now: () => 0 })
  const lines = (...failed: [key: string, message: string][]) =>
    failed.map(([key, message]) => news.failed(key, message) !== undefined)
  assert.equal(lines(['n/a', 'down'], ['n/b', 'down'], ['n/b', 'full'], ['n/a', 'down']), [true, false, true, false])
  news.succeeded('n/a')
  assert.equal(lines(['n/a', 'full'], ['n/b', 'down']), [false, true])
})

const advice =
  'Another program probably undoes these changes: find out what else writes this object. eip-admission retries with back-off'
const unsettled: Reported = { key: 'a', message: `still not settled after 20 steps. ${advice}` }
test('a key that does not settle is reported, logged and counted as such, and retried with back-off', async () => {
  const { run, results, reported, warnings } = makeController((_key, count) => {
    if (count < 3) throw new Unsettled('still not settled after 20 steps')
    return {}
  })
  await run(3)
  assert.equal(results, ['test unsettled', 'test unsettled', 'test ok'])
  assert.equal(reported, [unsettled, unsettled])
  assert.equal(
    warnings.map(({ text }) => text),
    ['does not settle', 'does not settle'],
  )
})

test('a step that is needed again and again does not settle, however fast the changes come', async () => {
  const listeners: ((key: string) => void)[] = []
  const undone = () => {
    for (const listener of listeners) listener('a')
  }
  const { run, results, reported } = makeController(
    () => {
      undone()
      return { steps: ['show-address'] }
    },
    {
      retry: { firstMs: 20, maxMs: 20 },
      watches: [
        watch({ onChange: (listener: (key: string) => void) => void listeners.push(listener) }, (key) => [key]),
      ],
    },
  )
  const startedMs = performance.now()
  await run(16)
  assert.equal(
    results.map((result) => result.replace('test ', '')),
    [...Array(12).fill('ok'), ...Array(4).fill('unsettled')],
  )
  assert.ok(performance.now() - startedMs >= 3 * 10, 'it waits between the last ones')
  assert.equal(reported[0]?.message, `the step show-address keeps repeating. ${advice}`)
})

test('a disputed key is looked at when its hold ends, if its reconcile asks for that, however long the back-off is', async () => {
  const clock = fakeClock()
  const { controller, results } = makeController(
    () => ({ againInMs: 20, steps: ['withdraw'] }),
    { retry: { firstMs: 3_600_000, maxMs: 3_600_000 } },
    clock,
  )
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  for (let n = 0; n < 13; n += 1) await clock.pass(20)
  assert.is(results.at(-1), 'test unsettled')
  const count = results.length
  await clock.pass(29_000)
  assert.is(results.length, count)
  await clock.pass(1_000)
  assert.is(results.length, count + 1)
  stop.abort()
  await running
})

test('a disputed key that looks settled between two repetitions keeps its back-off', async () => {
  const clock = fakeClock()
  const { controller, warnings } = makeController(
    (_key, count) => ({ againInMs: 20, steps: count === 14 ? [] : ['withdraw'] }),
    { retry: { firstMs: 1_000, maxMs: 60_000 } },
    clock,
  )
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  for (let n = 0; n < 200 && warnings.length < 2; n += 1) await clock.pass(20)
  const [first = 0, second = 0] = warnings.map(({ againInMs }) => againInMs)
  assert.ok(first <= 1_000 && second >= 1_000, `${first} and ${second} ms`)
  stop.abort()
  await running
})

test('every reason of several errors is reported and logged', async () => {
  const several = [new Error('one'), new AggregateError([new Error('two'), new Error('three')]), new Error('one')]
  const { run, reported, warnings } = makeController((_key, count) => {
    if (count === 1) throw new AggregateError(several, '2 of 9 failed')
    return {}
  })
  await run(2)
  const text = '2 of 9 failed: one; two; three'
  assert.equal([reported[0]?.message, warnings[0]?.error], [text, text])
})

const conflict = new KubeError('changed meanwhile', { status: 409, reason: 'Conflict' })
for (const [what, error] of [
  ['a conflict', conflict],
  ['several conflicts', new AggregateError([conflict, conflict])],
] as const)
  test(`${what} is retried and not reported`, async () => {
    const { run, results, reported, warnings } = makeController((_key, count) => {
      if (count === 1) throw error
      return {}
    })
    await run(2)
    assert.equal([results, reported, warnings], [['test conflict', 'test ok'], [], []])
  })

test('an error that says when to retry is retried then', async () => {
  const wait = (ms: number) => Object.assign(new Error('too many requests'), { retryAfterMs: ms })
  const slow = { firstMs: 3_600_000 }
  for (const error of [wait(3), new AggregateError([new Error('broken'), wait(1), wait(3)])]) {
    const { run, warnings } = makeController(
      (_key, count) => {
        if (count === 1) throw error
        return {}
      },
      { retry: slow },
    )
    await run(2)
    assert.is(warnings[0]?.againInMs, 3)
  }
})

test('an error of an API server that asks for no wait is retried with back-off', async () => {
  const clock = fakeClock()
  const { controller, reconciled } = makeController(
    (_key, count) => {
      if (count === 9) return {}
      throw responseError('get Service default/web', { status: 503, retryAfter: '0', body: 'maintenance' })
    },
    { retry: { firstMs: 1_000, maxMs: 300_000 } },
    clock,
  )
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  await clock.pass(400)
  assert.is(reconciled.length, 1)
  await clock.pass(600)
  assert.is(reconciled.length, 2)
  stop.abort()
  await running
})

const day = 86_400
for (const [what, error, ms] of [
  ['an error', Object.assign(new Error('too many requests'), { retryAfterMs: 1_000 * day }), 600_000],
  [
    'a maintenance page in front of the API server',
    responseError('list Service', { status: 503, retryAfter: String(day), body: 'maintenance' }),
    60_000,
  ],
] as const)
  test(`${what} that asks for a day is retried after ${ms / 1_000} s`, async () => {
    const clock = fakeClock()
    const { controller, reconciled, warnings } = makeController(
      (_key, count) => {
        if (count === 1) throw error
        return {}
      },
      {},
      clock,
    )
    const stop = new AbortController()
    const running = controller.run(stop.signal)
    await clock.pass(ms + 1)
    assert.equal([reconciled.length, warnings[0]?.againInMs], [2, ms])
    stop.abort()
    await running
  })

const overloaded = new CloudError('the provider has errors', { fault: 'unavailable', outcome: 'nothing' })
const slowRetry = { firstMs: 24_000, maxMs: 24_000 }

// Each key changes every 100 ms, for 12 s.
const holds: { name: string; first: () => Outcome; more?: Partial<ControllerDeclaration>; isHeld: boolean }[] = [
  {
    name: 'an error that says when to retry holds its key until then',
    first() {
      throw Object.assign(new Error('too many requests'), { retryAfterMs: 12_000 })
    },
    isHeld: true,
  },
  { name: 'a wait that is held holds its key', first: () => ({ againInMs: 12_000, isHeld: true }), isHeld: true },
  { name: 'any other wait holds nothing', first: () => ({ againInMs: 12_000 }), isHeld: false },
  {
    name: 'an error of the provider holds its key for the back-off where each reconcile is a call',
    first() {
      throw new AggregateError([new Error('another'), overloaded])
    },
    more: { retry: slowRetry, holdsFailedCalls: true },
    isHeld: true,
  },
  {
    name: 'an error of the provider holds nothing elsewhere',
    first() {
      throw overloaded
    },
    more: { retry: slowRetry },
    isHeld: false,
  },
  {
    name: 'an error that is not of the provider holds nothing',
    first() {
      throw new Error('another Service shows the address')
    },
    more: { retry: slowRetry, holdsFailedCalls: true },
    isHeld: false,
  },
]
for (const { name, first, more, isHeld } of holds) {
  test(`${name}, whatever changes`, async () => {
    const clock = fakeClock()
    const listeners: (() => void)[] = []
    const watches = [watch({ onChange: (listener) => void listeners.push(listener) }, () => ['a'])]
    const { controller, reconciled } = makeController(
      (_key, count) => (count === 1 ? first() : {}),
      { watches, ...more },
      clock,
    )
    const stop = new AbortController()
    const running = controller.run(stop.signal)
    for (let ms = 0; ms < 11_900; ms += 100) {
      for (const change of listeners) change()
      await clock.pass(100)
    }
    assert.is(reconciled.length === 1, isHeld)
    await clock.pass(12_200)
    assert.ok(reconciled.length > 1)
    stop.abort()
    await running
  })
}

test('a terminal problem is reported once and not retried', async () => {
  const { run, results, reported } = makeController(
    (key) => {
      if (key === 'a') throw new Terminal('wrong location')
      return { againInMs: 5 }
    },
    { keys: () => ['a', 'b'] },
  )
  await run(4)
  assert.equal(
    [results.filter((result) => result === 'test terminal').length, reported],
    [1, [{ key: 'a', message: 'wrong location' }]],
  )
})

test.run()
