import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CloudError } from '../../../clouds/ports/cloud.ts'
import type { UnknownBehaviour } from '../../../sandbox/clouds/hetzner/unknown-behaviour.ts'
import { assignmentContract, cloudContract, familyContract } from '../contract.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { key, startCloud, startStage } from './stage.ts'

type Cloud = Awaited<ReturnType<typeof startCloud>>

// The other answer to every question that nobody outside the vendor can answer.
const otherwise: Partial<UnknownBehaviour> = {
  lock: 'none',
  sameServer: '201',
  unknownServer: '422',
  deleteOrder: 'assigned',
  orderOverLimit: 'name',
  serverShowsAddresses: 'never',
}
for (const { name, unknowns } of [
  { name: 'Hetzner Cloud', unknowns: {} },
  { name: 'Hetzner Cloud, if it is otherwise', unknowns: otherwise },
]) {
  const start = () => startStage(unknowns)
  cloudContract(name, start)
  assignmentContract(name, start)
  familyContract(name, start)
}

const marks = { usage: 'eip-admission', cluster: 'one', service: 'wc5Jyo1cRfBe7Qj+OQ/MKgKyKUyB7yeNX8OoHqbYjXk=' }
const location = 'fsn1'
const options = { signal: neverAborted, writeMs: () => 2_000 }

test('two processes that reserve for one Service at once get one address', async () => {
  await using cloud = await startCloud()
  const both = ['a', 'b'].map(() => cloud.cloudWith(key).reserve({ location, marks }, neverAborted))
  const [one, other] = await Promise.all(both)
  assert.equal(one, other)
  assert.is(cloud.control.reservations.all().length, 1)
})

test('a Service whose previous address is retained gets another one', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const former = await client.reserve({ location, marks }, neverAborted)
  await client.mark({ id: former.id, marks: {} }, { service: undefined }, neverAborted)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  assert.is.not(id, former.id)
})

test('attempts of one order get one address, another order with the same marks gets another one', async () => {
  await using cloud = await startCloud()
  const reserve = (order: string) => cloud.cloudWith(key).reserve({ location, marks, order }, neverAborted)
  const first = await reserve('uid-1')
  assert.equal(await reserve('uid-1'), first)
  const { id } = await reserve('uid-2')
  assert.is.not(id, first.id)
})

test('if the name of an order is taken, all its attempts still get one address', async () => {
  await using cloud = await startCloud()
  const attempt = () => cloud.cloudWith(key).reserve({ location, marks, order: 'uid-1' }, neverAborted)
  const former = await attempt()
  await cloud.cloudWith(key).mark({ id: former.id, marks: {} }, { service: undefined }, neverAborted)
  const [one, ...others] = await Promise.all([attempt(), attempt(), attempt()])
  assert.equal(others, [one, one])
  assert.is(cloud.control.reservations.all().length, 2)
})

for (const { name, fill } of [
  { name: 'reached the limit of the project', fill: (control: Cloud['control']) => control.quota.set(1) },
  {
    name: 'took the last one that the provider had',
    fill: (control: Cloud['control']) => control.faults.add({ on: 'POST /floating_ips', answer: 412 }),
  },
])
  test(`an order whose answer was lost gets its address, although that ${name}`, async () => {
    await using cloud = await startCloud()
    const { control } = cloud
    control.faults.add({ on: 'POST /floating_ips', answer: 'reset', done: true, times: 1 })
    const attempt = () => cloud.cloudWith(key).reserve({ location, marks, order: 'uid-1' }, neverAborted)
    assert.is((await cloudErrorOf(attempt())).outcome, 'unknown')
    fill(control)
    assert.is((await attempt()).id, String(control.reservations.all()[0]?.['id']))
    assert.is(control.reservations.all().length, 1)
  })

test('labels of people stay, and ours are found among them', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const url = `${cloud.url}/floating_ips/${id}`
  const read = async () =>
    ((await (await fetch(url, { headers })).json()) as { floating_ip: { labels: object } }).floating_ip
  const labels = { ...(await read()).labels, cluster: 'k3s', 'team/name': 'edge' }
  await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ labels }) })
  await client.mark({ id, marks: {} }, { cluster: 'two' }, neverAborted)
  assert.equal(Object.keys((await read()).labels).toSorted(), [
    'cluster',
    'eip-admission.dev/cluster',
    'eip-admission.dev/service',
    'eip-admission.dev/usage',
    'team/name',
  ])
  assert.equal((await client.reservation(id, neverAborted))?.marks, { ...marks, cluster: 'two' })
})

test('an address that a server has, or that is protected, stays, and the person learns why', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1' })['id'])
  await client.assignments.move({ id, machine, marks: {} }, options)
  const assigned = await cloudErrorOf(client.release({ id, marks: {} }, neverAborted))
  assert.is(assigned.fault, 'conflict')
  assert.match(assigned.message, `is assigned to server ${machine}, so it is not deleted; unassign it`)
  await client.assignments.unassign({ id, marks: {} }, options)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const url = `${cloud.url}/floating_ips/${id}/actions/change_protection`
  await fetch(url, { method: 'POST', headers, body: '{"delete":true}' })
  const refused = await cloudErrorOf(client.release({ id, marks: {} }, neverAborted))
  assert.match(refused.message, /deletion is protected \(protected\); unassign it, and end its protection/)
})

test('the words of a used-up limit, and of a token that may only read, reach the person', async () => {
  await using cloud = await startCloud()
  cloud.control.quota.set(0)
  const quota = await cloudErrorOf(cloud.cloudWith(key).reserve({ location, marks }, neverAborted))
  assert.is(quota.fault, 'quota')
  assert.match(quota.message, /Floating IP limit exceeded \(resource_limit_exceeded\).*raised in the console/)
  const readOnly = await cloudErrorOf(
    cloud.cloudWith('hetzner-key-read-0nly').reserve({ location, marks }, neverAborted),
  )
  assert.match(readOnly.message, /\(token_readonly\).*right to read and write/)
})

test('a used-up bucket of calls is no reason to wait for an hour', async () => {
  await using cloud = await startCloud()
  cloud.control.setCallLimit({ calls: 1, refillMs: 100_000 })
  const client = cloud.cloudWith(key, { readTimeoutMs: 5_000 })
  await client.locations(neverAborted)
  const error = await cloudErrorOf(client.reserve({ location, marks }, neverAborted))
  assert.equal([error.fault, error.retryAfterMs], ['rate-limit', undefined])
})

test('a move returns when its action has ended, and forty moves ask together', async () => {
  await using cloud = await startCloud({ lock: 'none' }, 700)
  const client = cloud.cloudWith(key)
  const machines = ['a', 'b', 'c', 'd'].map((hostname) => String(cloud.control.devices.add({ hostname })['id']))
  const some = await Promise.all(
    Array.from({ length: 40 }, (_, n) => client.reserve({ location, marks: { service: `s${n}` } }, neverAborted)),
  )
  cloud.control.calls.clear()
  const fromMs = performance.now()
  await Promise.all(
    some.map(({ id }, n) =>
      client.assignments.move({ id, machine: machines[n % 4] ?? '', from: [], marks: {} }, options),
    ),
  )
  const seconds = (performance.now() - fromMs) / 1000
  const after = await client.assignments.assignedAddresses(undefined, neverAborted)
  const machineOf = new Map(after.map((one) => [one.id, one.machines.join()]))
  for (const [n, { id }] of some.entries()) assert.is(machineOf.get(id), machines[n % 4])
  const { calls } = cloud.control
  assert.is(calls.count('POST'), 40)
  // Two calls each half second, for all of them together.
  assert.ok(calls.count('GET /actions') <= 6 + 4 * seconds, `${calls.count('GET /actions')} calls in ${seconds} s`)
})

test('sixty moves take turns where the provider refuses some as too many', async () => {
  await using cloud = await startCloud({ lock: 'none' }, 500)
  const client = cloud.cloudWith(key)
  const machines = ['a', 'b', 'c', 'd'].map((hostname) => String(cloud.control.devices.add({ hostname })['id']))
  const some = await Promise.all(
    Array.from({ length: 60 }, (_, n) => client.reserve({ location, marks: { service: `s${n}` } }, neverAborted)),
  )
  cloud.control.setCallLimit({ calls: 10, refillMs: 20 })
  cloud.control.calls.clear()
  const move = async (id: string, machine: string) => {
    for (;;) {
      const error = await client.assignments
        .move({ id, machine, from: [], marks: {} }, options)
        .catch((failure: CloudError) => failure)
      if (error === undefined) return
      // It may not wait for its turn for as long as it likes: this process may lose the right to write.
      if (error.outcome === 'nothing') assert.is(error.fault, 'rate-limit')
    }
  }
  await Promise.all(some.map(({ id }, n) => move(id, machines[n % 4] ?? '')))
  const refused = cloud.control.calls.all().filter(({ status }) => status === 429).length
  // The first fifty begin before the first refusal.
  assert.ok(refused <= 90, `${refused} calls that the provider refused`)
})

test('an action that fails late is an error, and nothing has moved', async () => {
  await using cloud = await startCloud({ lock: 'late' }, 300)
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const other = await client.reserve({ location, marks: { service: 'other' } }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1' })['id'])
  const [, second] = await Promise.allSettled([
    client.assignments.move({ id, machine, marks: {} }, options),
    cloudErrorOf(client.assignments.move({ id: other.id, machine, marks: {} }, options)),
  ])
  assert.ok(second.status === 'fulfilled')
  assert.equal([second.value.fault, second.value.outcome], ['conflict', 'unknown'])
  assert.match(second.value.message, /action \d+ failed: server is locked \(unknown_error\)/)
})

test('when the provider has accepted a move and then refuses to say how it ended, nobody knows whether it was carried out', async () => {
  await using cloud = await startCloud({}, 300)
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1' })['id'])
  cloud.control.faults.add({ on: 'GET /actions', answer: 401 })
  const error = await cloudErrorOf(client.assignments.move({ id, machine, from: [], marks: {} }, options))
  assert.equal([error.fault, error.outcome], ['auth', 'unknown'])
})

test('an address that the provider has blocked has a problem, until the provider ends that', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  await client.reserve({ location, marks: { service: 'other' } }, neverAborted)
  assert.equal(await client.problems?.(neverAborted), new Map())
  cloud.control.floatingIps.setBlocked(id, true)
  assert.equal(await cloud.cloudWith(key).problems?.(neverAborted), new Map([[id, 'it is blocked']]))
  cloud.control.floatingIps.setBlocked(id, false)
  assert.equal(await cloud.cloudWith(key).problems?.(neverAborted), new Map())
})

const serviceError = { answer: 422, code: 'service_error', message: 'service error', times: 1 }
const lockedBySupport = { answer: 423, code: 'resource_locked', message: 'contact support', times: 1 }

for (const done of [true, false])
  test(`after an error within the provider nobody knows whether it reserved, and the next attempt gets one address (${done})`, async () => {
    await using cloud = await startCloud()
    const client = cloud.cloudWith(key)
    cloud.control.faults.add({ on: 'POST /floating_ips', ...serviceError, done })
    const error = await cloudErrorOf(client.reserve({ location, marks }, neverAborted))
    assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
    assert.match(error.message, 'service error (service_error); it may have succeeded')
    await client.reserve({ location, marks }, neverAborted)
    assert.is(cloud.control.reservations.all().length, 1)
  })

test('an error inside the provider says nothing about the machine, but a lock of the vendor does', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1' })['id'])
  for (const { fault, expected } of [
    { fault: serviceError, expected: ['unavailable', 'unknown'] },
    { fault: lockedBySupport, expected: ['invalid', 'nothing'] },
  ]) {
    cloud.control.faults.add({ on: 'POST /floating_ips/{id}/actions/assign', ...fault })
    const error = await cloudErrorOf(client.assignments.move({ id, machine, marks: {} }, options))
    assert.equal([error.fault, error.outcome], expected)
  }
  await client.assignments.move({ id, machine, marks: {} }, options)
})

test('a server without an interface of the family is refused with an error that does not name it as the reason', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1', hasIpv4: false })['id'])
  const error = await cloudErrorOf(client.assignments.move({ id, machine, marks: {} }, options))
  // The mover passes such a server over at the second failure.
  assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
  assert.match(error.message, /server has no public ipv4 interface \(service_error\)/)
})

test('where the API replaces no server, an address is taken from the one that we know, and from no other', async () => {
  await using cloud = await startCloud({ otherServer: '422' })
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const [one, two, three] = ['a', 'b', 'c'].map((hostname) => String(cloud.control.devices.add({ hostname })['id']))
  await client.assignments.move({ id, machine: one ?? '', marks: {} }, options)
  await client.assignments.move({ id, machine: two ?? '', from: [one ?? ''], marks: {} }, options)
  const holder = async () => (await client.assignments.assignedAddress(id, neverAborted))?.machines
  assert.equal(await holder(), [two])
  const error = await cloudErrorOf(
    client.assignments.move({ id, machine: three ?? '', from: [one ?? ''], marks: {} }, options),
  )
  assert.equal([error.fault, error.outcome], ['conflict', 'nothing'])
  assert.equal(await holder(), [two])
})

test('a server that already has the address is not refused, even if a read does not show it yet', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1' })['id'])
  cloud.control.faults.add({
    on: 'POST /floating_ips/{id}/actions/assign',
    answer: 422,
    code: 'floating_ip_assigned',
    times: 1,
  })
  await client.assignments.move({ id, machine, from: [], marks: {} }, options)
})

test('a 404 without the code of the API proves neither a deletion nor a mark', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(key)
  const { id } = await client.reserve({ location, marks }, neverAborted)
  for (const [on, change] of [
    ['DELETE /floating_ips/{id}', () => client.release({ id, marks: {} }, neverAborted)],
    ['PUT /floating_ips/{id}', () => client.mark({ id, marks: {} }, { service: 'other' }, neverAborted)],
  ] as const) {
    const { id: fault } = cloud.control.faults.add({ on, answer: 404, code: 'no_route' })
    await cloudErrorOf(change())
    cloud.control.faults.remove(fault)
    cloud.control.faults.add({ on, answer: 404, code: 'not_found', times: 1 })
    await change()
  }
})

test('a reserve that meets a lock of the vendor is tried again later', async () => {
  await using cloud = await startCloud()
  cloud.control.faults.add({ on: 'POST /floating_ips', ...lockedBySupport })
  const error = await cloudErrorOf(cloud.cloudWith(key).reserve({ location, marks }, neverAborted))
  assert.equal([error.fault, error.outcome], ['conflict', 'nothing'])
  assert.match(error.message, 'contact support (resource_locked)')
})

for (const { answer, isDone } of [
  { answer: { answer: 422, code: 'service_error' }, isDone: true },
  { answer: { answer: 422, code: 'service_error' }, isDone: false },
  { answer: { answer: 422 }, isDone: true },
  { answer: { answer: 'reset' as const }, isDone: true },
])
  test(`an unassignment that is ${isDone ? '' : 'not '}carried out before ${answer.code ?? answer.answer} is looked at`, async () => {
    await using cloud = await startCloud()
    const client = cloud.cloudWith(key)
    const { id } = await client.reserve({ location, marks }, neverAborted)
    const machine = String(cloud.control.devices.add({ hostname: 'node-1' })['id'])
    await client.assignments.move({ id, machine, marks: {} }, options)
    cloud.control.faults.add({ on: 'POST /floating_ips/{id}/actions/unassign', ...answer, times: 1, done: isDone })
    const work = client.assignments.unassign({ id, marks: {} }, options)
    if (isDone) await work
    else assert.is((await cloudErrorOf(work)).outcome, 'unknown')
    const { machines } = (await client.assignments.assignedAddress(id, neverAborted)) ?? {}
    assert.equal(machines, isDone ? [] : [machine])
  })

test.run()
