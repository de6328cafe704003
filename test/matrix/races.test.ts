// Two replicas answer reviews, and one of them leads, while many clients create and delete and a process freezes.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAlreadyExists, isConflict } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { type Product, runProduct } from '../../sandbox/product.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { roundRobin } from '../whole/round-robin.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const { client } = stage
const [first = 0, second = 0] = await freePorts(2)
const control = await roundRobin([first, second])
await runProduct([
  'install',
  `--kubeconfig=${stage.controlPlane.kubeconfig}`,
  `--webhook-url=https://127.0.0.1:${control.port}`,
])
const replica = (port: number) => ({
  env: dialect.here,
  flags: [
    `--webhook-secure-port=${port}`,
    '--leader-elect-lease-duration=2s',
    '--leader-elect-renew-deadline=1500ms',
    '--leader-elect-retry-period=300ms',
    // A frozen replica that wakes reserves for reviews that have timed out.
    '--unbound-grace=5s',
  ],
})
await dialect.callFrom?.(stage.cloud.controlUrl, 2)
const replicas = [await stage.startSwept(replica(first)), await stage.start(replica(second))] as const
const { calls, latency } = stage.cloud.control

const create = (name: string) =>
  client.create(services, { ...loadBalancer(name), metadata: { namespace: 'default', name } } as Service)

const leads = async (one: Product) => /^eip_admission_leader 1$/m.test((await one.health('/metrics')).text)

/** Returns the leading replica and the other one: on a slow machine, a lease of two seconds may have moved. */
function leaderAndOther(): Promise<[Product, Product]> {
  const [one, two] = replicas
  return eventually('one leads', async (observe) => {
    const [oneLeads, twoLeads] = observe([await leads(one), await leads(two)])
    if (oneLeads === twoLeads) return undefined
    return oneLeads ? [one, two] : [two, one]
  })
}

async function unlessTaken(made: Promise<unknown>): Promise<boolean> {
  try {
    await made
    return true
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error)) return false
    throw error
  }
}

/** Waits until each LoadBalancer shows its own reserved address and nothing else is reserved. */
function atRest(): Promise<true> {
  return eventually(
    'as many reservations as Services, each on its own',
    async (observe) => {
      const live = (await listAll(client, services)).filter(({ spec }) => spec.type === 'LoadBalancer')
      const shown = observe(live.map(({ status }) => status?.loadBalancer?.ingress?.[0]?.ip))
      const reserved = observe(stage.reserved().map(({ address }) => address))
      const isWhole = new Set(shown).size === live.length && shown.every((address) => reserved.includes(address ?? ''))
      return (isWhole && reserved.length === live.length) || undefined
    },
    60_000,
  )
}

test('thirty simultaneous creates of one name are one Service and one reservation', async () => {
  latency.set({ ms: 200 })
  calls.clear()
  const made = await Promise.all(Array.from({ length: 30 }, () => unlessTaken(create('one'))))
  assert.is(made.filter(Boolean).length, 1)
  await atRest()
  assert.is(calls.count(routes.reserve), 1)
})

const crowd = dialect.burst / 2
test(`${crowd} Services that ten clients create at once are as many reservations`, async () => {
  latency.set({ ms: 20 })
  calls.clear()
  const people = Array.from({ length: 10 }, async (_, person) => {
    for (let n = 0; n < crowd / 10; n += 1) await create(`many-${person}-${n}`)
  })
  await Promise.all(people)
  await atRest()
  // Calls above the cloud's limit, and calls that timed out before it, reserved nothing.
  const bought = calls.all(routes.reserve).filter(({ status }) => status === 201)
  assert.is(bought.length, crowd)
})

test('names that are created and deleted without a pause end with one reservation each', async () => {
  latency.clear()
  const endMs = performance.now() + 5_000
  let rounds = 0
  const churn = async (name: string) => {
    while (performance.now() < endMs || rounds < 12) {
      if (await unlessTaken(create(name))) rounds += 1
      await client.remove(services, { namespace: 'default', name })
    }
    await eventually(`${name} can be created`, async () => (await unlessTaken(create(name))) || undefined)
  }
  await Promise.all(['churn-a', 'churn-b', 'churn-c'].map(churn))
  await atRest()
})

test('a leader that was frozen past its lease changes nothing against the new leader when it wakes', async () => {
  // The API server waits for each review of a frozen replica; a shorter time-out shortens the test.
  const patience = '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":2}]'
  for (const kind of ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'])
    await stage.run('patch', kind, 'zz-eip-admission', '--type=json', '-p', patience)
  const [leader, other] = await leaderAndOther()
  leader.signal('SIGSTOP')
  await eventually('the other leads', async () => (await leads(other)) || undefined)
  const names = Array.from({ length: 5 }, (_, n) => `frozen-${n}`)
  await Promise.all(names.map((name) => create(name)))
  const losses = () => readFileSync(stage.logOf('eip-admission'), 'utf8').split('lease lost').length
  const before = losses()
  leader.signal('SIGCONT')
  await client.remove(services, { namespace: 'default', name: 'frozen-0' })
  await atRest()
  await eventually('it has logged that it lost the lease', () => losses() > before || undefined)
})

test.after(() => stage.close(control))

test.run()
