import { isIP } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../../sandbox/clouds/scaleway/unknown-behaviour.ts'
import { assignmentContract, cloudContract, familyContract, projectContract } from '../contract.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { key, project, routes, startCloud, startStage, zone } from './stage.ts'

// The other answer to every question that nobody outside the vendor can answer.
const otherwise: Partial<UnknownBehaviour> = {
  attachElsewhere: 'precondition',
  unknownServer: '404',
  unknownAddress: '403',
  movingShows: 'previous',
  mask: '/32',
  serverShowsAddresses: 'at-once',
  quotaStatus: '400',
}
for (const { name, unknowns } of [
  { name: 'Scaleway', unknowns: {} },
  { name: 'Scaleway, if it is otherwise', unknowns: otherwise },
]) {
  const start = () => startStage(unknowns)
  cloudContract(name, start)
  assignmentContract(name, start)
  projectContract(name, start)
  familyContract(name, start)
}

const marks = { usage: 'eip-admission', cluster: 'one', service: 'wc5Jyo1cRfBe7Qj+OQ/MKgKyKUyB7yeNX8OoHqbYjXk=' }
const location = zone
const options = { signal: neverAborted, writeMs: () => 2_000 }
const headers = { 'x-auth-token': key, 'content-type': 'application/json' }

/** A cloud, its client, and a call of somebody else with the same key. */
async function open(given: Parameters<typeof startCloud>[0] = {}) {
  const cloud = await startCloud(given)
  const client = cloud.cloudWith(key)
  const reserve = (service = marks.service) => client.reserve({ location, marks: { ...marks, service } }, neverAborted)
  const call = async (method: string, path: string, body?: object) => {
    const url = `${cloud.url}/flexible-ip/v1alpha1/zones/${zone}/fips${path}`
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await answer.text()
    return (text ? JSON.parse(text) : {}) as { id: string; tags: string[]; status: string; created_at: string }
  }
  const add = (hostname: string) => String(cloud.control.devices.add({ hostname })['id'])
  const machinesOf = async (id: string) => (await client.assignments.assignedAddress(id, neverAborted))?.machines
  return { ...cloud, client, reserve, call, add, machinesOf }
}

test('tags of people stay, and ours are found among them', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  const { tags } = await cloud.call('GET', `/${id}`)
  await cloud.call('PATCH', `/${id}`, { tags: ['team', 'cluster=k3s', ...tags, 'eip-admission.dev/'] })
  await cloud.client.mark({ id, marks: {} }, { cluster: 'two' }, neverAborted)
  const now = (await cloud.call('GET', `/${id}`)).tags
  assert.equal(now.slice(0, 2), ['team', 'cluster=k3s'])
  assert.ok(now.includes('eip-admission.dev/'))
  assert.is(now.length, tags.length + 3)
  assert.equal((await cloud.client.reservation(id, neverAborted))?.marks, { ...marks, cluster: 'two' })
})

test('tags that name two clusters name none, and the address stays', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  const { tags } = await cloud.call('GET', `/${id}`)
  await cloud.call('PATCH', `/${id}`, { tags: [...tags, 'eip-admission.dev/cluster=two'] })
  for (const cluster of ['one', 'two']) {
    assert.equal(await cloud.client.reservations({ cluster }, neverAborted), [])
    await cloud.client.release({ id, marks: { ...marks, cluster } }, neverAborted)
  }
  assert.is((await cloud.client.reservation(id, neverAborted))?.marks['cluster'], undefined)
})

test('an address of a server that has one of its own in the other family alone is not its own', async () => {
  await using cloud = await open({ unknowns: { serverShowsAddresses: 'at-once' } })
  const { id, address } = await cloud.client.reserve({ location, marks, family: 'ipv6' }, neverAborted)
  const machine = String(cloud.control.devices.add({ hostname: 'node-1', hasIpv6: false })['id'])
  await cloud.client.assignments.move({ id, marks, machine }, options)
  for (const found of [
    await cloud.client.machine(machine, neverAborted),
    ...(await cloud.client.machines(neverAborted)),
  ])
    assert.equal(
      found?.addresses.filter(({ isElastic }) => isElastic).map((one) => one.address),
      [address?.replace(/1$/, '')],
    )
})

test('a mark that does not fit into a tag is refused, and nothing is bought', async () => {
  await using cloud = await open()
  const error = await cloudErrorOf(cloud.reserve('x'.repeat(240)))
  assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
  assert.match(error.message, 'does not fit into a tag of 255 characters')
  assert.is(cloud.control.calls.count(), 0)
})

test('a reused id is a new reservation, with its own marks and its own time', async () => {
  const time = { ms: Date.parse('2024-08-28T11:36:00Z') }
  await using cloud = await open({ now: () => time.ms })
  const former = await cloud.reserve()
  await cloud.client.release(former, neverAborted)
  time.ms += 1_000
  const later = await cloud.reserve('another')
  assert.equal([later.id, later.address], [former.id, former.address])
  assert.is((await cloud.call('GET', `/${later.id}`)).created_at.slice(0, 19), '2024-08-28T11:36:00')
  assert.ok(Math.abs(Date.parse(later.createdAt ?? '') - Date.now()) < 60_000)
  assert.equal(later.marks, { ...marks, service: 'another' })
})

test('a mark in flight does not reach a later reservation with the same id', async () => {
  await using cloud = await open()
  const first = await cloud.reserve()
  cloud.control.latency.set({ on: routes.mark, ms: 300 })
  const marking = cloud.client.mark({ id: first.id, marks: {} }, { sign: 'one' }, neverAborted)
  const releasing = cloud.client.release(first, neverAborted).then(() => cloud.reserve('another=='))
  const [next] = await Promise.all([releasing, marking])
  assert.is(next.id, first.id)
  assert.equal((await cloud.client.reservation(next.id, neverAborted))?.marks, { ...marks, service: 'another==' })
})

test('a mark for a reservation as it was read does not reach a later one with the same id', async () => {
  await using cloud = await open()
  const first = await cloud.reserve()
  await cloud.client.release(first, neverAborted)
  const next = await cloud.reserve('another==')
  await cloud.client.mark(first, { sign: 'one' }, neverAborted)
  assert.is((await cloud.client.reservation(next.id, neverAborted))?.marks['sign'], undefined)
  await cloud.client.mark(next, { sign: 'one' }, neverAborted)
  assert.is((await cloud.client.reservation(next.id, neverAborted))?.marks['sign'], 'one')
})

test('a reused id without our tags is not deleted, even if a server has it', async () => {
  await using cloud = await open()
  const ours = await cloud.reserve()
  await cloud.client.release(ours, neverAborted)
  assert.is((await cloud.call('POST', '', { project_id: project, tags: ['web'] })).id, ours.id)
  cloud.control.reservations.assign(ours.id, cloud.add('theirs'))
  cloud.control.calls.clear()
  await cloud.client.release(ours, neverAborted)
  assert.is(cloud.control.calls.count(routes.release), 0)
  assert.is(cloud.control.reservations.all().length, 1)
})

for (const attachElsewhere of ['accept', 'precondition'] as const)
  test(`an id that was given away since the caller looked is neither attached nor detached (${attachElsewhere})`, async () => {
    await using cloud = await open({ unknowns: { attachElsewhere } })
    const { id } = await cloud.reserve()
    const { assignments } = cloud.client
    const [ours, theirs] = [cloud.add('ours'), cloud.add('theirs')]
    await cloud.call('POST', `/attach`, { fips_ids: [id], server_id: ours })
    const looked = await assignments.assignedAddress(id, neverAborted)
    const { marks: seen, machines: from } = looked ?? {}
    await cloud.call('POST', '/detach', { fips_ids: [id] })
    await cloud.call('DELETE', `/${id}`)
    assert.is((await cloud.call('POST', '', { project_id: project, tags: ['web'] })).id, id)
    cloud.control.reservations.assign(id, theirs)
    cloud.control.calls.clear()
    assert.ok(seen && from)
    const target = { id, marks: seen, from }
    const error = await cloudErrorOf(assignments.move({ ...target, machine: ours }, options))
    assert.match(error.message, 'cannot be moved: its reservation no longer exists')
    await assignments.unassign(target, options)
    assert.is(cloud.control.calls.count('POST'), 0)
    assert.equal(await cloud.machinesOf(id), [theirs])
  })

test('an id that is given away while a refused move looks again is not detached', async () => {
  await using cloud = await open({ unknowns: { attachElsewhere: 'precondition' } })
  const first = await cloud.reserve()
  const { id } = first
  const [ours, theirs] = [cloud.add('ours'), cloud.add('theirs')]
  const give = async () => {
    await cloud.call('DELETE', `/${id}`)
    await cloud.call('POST', '', { project_id: project, tags: ['web'] })
    cloud.control.reservations.assign(id, theirs)
  }
  cloud.control.latency.set({ on: routes.attach, ms: 200 })
  const moving = cloudErrorOf(cloud.client.assignments.move({ ...first, machine: ours }, options))
  while (cloud.control.calls.count(routes.attach) === 0) await new Promise((soon) => setTimeout(soon, 5))
  await give()
  assert.match((await moving).message, 'cannot be moved: its reservation no longer exists')
  assert.equal([await cloud.machinesOf(id), cloud.control.calls.count(routes.detach)], [[theirs], 0])
})

test('an address that a server has, or is about to have, stays', async () => {
  await using cloud = await open({ changeMs: 60_000 })
  const { id } = await cloud.reserve()
  const machine = cloud.add('node-1')
  cloud.control.reservations.assign(id, machine)
  const attached = await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))
  assert.match(attached.message, `is assigned to server ${machine}, so it is not deleted; unassign it`)
  cloud.control.reservations.assign(id, undefined)
  await cloud.call('POST', '/attach', { fips_ids: [id], server_id: machine })
  assert.match(
    (await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))).message,
    'a server, in a moment',
  )
  assert.is(cloud.control.calls.count(routes.release), 0)
})

test('a deletion that runs is not asked for with success twice, if the provider refuses that', async () => {
  await using cloud = await open({ unknowns: { deleteAgain: '409' } })
  cloud.control.setDeletion({ reservationsMs: 60_000 })
  const { id } = await cloud.reserve()
  await cloud.client.release({ id, marks: {} }, neverAborted)
  assert.is((await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))).fault, 'conflict')
})

test('an address that the provider hides is not gone while the list has it', async () => {
  await using cloud = await open()
  const reserved = await cloud.reserve()
  const { id } = reserved
  for (const answer of [403, 404]) {
    cloud.control.faults.clear()
    cloud.control.faults.add({ on: 'GET /flexible-ip/v1alpha1/zones/*/fips/*', answer })
    assert.equal(await cloud.client.reservation(id, neverAborted), reserved)
    assert.equal(await cloud.machinesOf(id), [])
  }
})

test('after a deletion a list that lags says that the address is there, not that the key is wrong', async () => {
  await using cloud = await open()
  cloud.control.setDeletion({ reservationsMs: 60_000 })
  const { id } = await cloud.reserve()
  await cloud.client.release({ id, marks: {} }, neverAborted)
  cloud.control.faults.add({ on: 'GET /flexible-ip/v1alpha1/zones/*/fips/*', answer: 403 })
  assert.is((await cloud.client.reservation(id, neverAborted))?.id, id)
  cloud.control.reservations.vanish(id)
  assert.is(await cloud.client.reservation(id, neverAborted), undefined)
})

test('a deletion that the provider refuses says that the key may not do it', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  cloud.control.faults.add({ on: routes.release, answer: 403 })
  assert.is((await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))).fault, 'auth')
})

test('a move returns when the address is there, and twenty moves look together', async () => {
  await using cloud = await open({ changeMs: 50 })
  const machines = ['a', 'b', 'c', 'd'].map(cloud.add)
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => cloud.reserve(`s${n}`)))
  const pollMs = 250
  const client = cloud.cloudWith(key, { pollMs })
  cloud.control.calls.clear()
  const beganAtMs = performance.now()
  await Promise.all(
    all.map(({ id }, n) =>
      client.assignments.move({ id, machine: machines[n % 4] ?? '', from: [], marks: {} }, options),
    ),
  )
  const after = await client.assignments.assignedAddresses(undefined, neverAborted)
  const machineOf = new Map(after.map((one) => [one.id, one.machines.join()]))
  for (const [n, { id }] of all.entries()) assert.is(machineOf.get(id), machines[n % 4])
  const { calls } = cloud.control
  assert.is(calls.count(routes.attach), 20)
  // Each looks before its write, and at once after it. From then on one list at a time serves all of them, however long they take.
  const later = 1 + (performance.now() - beganAtMs) / pollMs
  assert.ok(calls.count('GET') <= 40 + 2 * later, `${calls.count('GET')} calls`)
})

test('an address on its way is on no machine, and a second move waits for the first', async () => {
  await using cloud = await open({ changeMs: 1_000 })
  const { id } = await cloud.reserve()
  const [one, two] = [cloud.add('one'), cloud.add('two')]
  await cloud.call('POST', '/attach', { fips_ids: [id], server_id: one })
  assert.equal(await cloud.machinesOf(id), [])
  await cloud.client.assignments.move({ id, machine: one, from: [], marks: {} }, options)
  assert.equal(await cloud.machinesOf(id), [one])
  await cloud.call('POST', '/attach', { fips_ids: [id], server_id: two })
  await cloud.client.assignments.move({ id, machine: one, marks: {} }, options)
  assert.equal(await cloud.machinesOf(id), [one])
})

test('an address that gets a virtual MAC stays on its server, and a move there or elsewhere waits for it', async () => {
  await using cloud = await open({ changeMs: 1_000 })
  const [one, two] = [cloud.add('one'), cloud.add('two')]
  for (const machine of [one, two]) {
    const { id } = await cloud.reserve(machine)
    cloud.control.reservations.assign(id, one)
    assert.is((await cloud.call('POST', `/${id}/mac`, { mac_type: 'kvm' })).status, 'updating')
    assert.equal(await cloud.machinesOf(id), [one])
    assert.is((await cloud.client.reservation(id, neverAborted))?.holder, `server ${one}`)
    await cloud.client.assignments.move({ id, machine, marks: {} }, options)
    assert.equal([await cloud.machinesOf(id), (await cloud.call('GET', `/${id}`)).status], [[machine], 'attached'])
  }
})

test('an address that moves away and still shows its previous server is brought back there', async () => {
  await using cloud = await open({ changeMs: 1_000, unknowns: { movingShows: 'previous' } })
  const { id } = await cloud.reserve()
  const [one, two] = [cloud.add('one'), cloud.add('two')]
  cloud.control.reservations.assign(id, one)
  await cloud.call('POST', '/attach', { fips_ids: [id], server_id: two })
  assert.equal(await cloud.machinesOf(id), [one])
  await cloud.client.assignments.move({ id, machine: one, marks: {} }, options)
  assert.equal([await cloud.machinesOf(id), (await cloud.call('GET', `/${id}`)).status], [[one], 'attached'])
})

test('a caller who stops waiting learns that the move may still happen', async () => {
  await using cloud = await open({ changeMs: 60_000 })
  const { id } = await cloud.reserve()
  const stop = new AbortController()
  const moving = cloud.client.assignments.move(
    { id, machine: cloud.add('one'), marks: {} },
    { ...options, signal: stop.signal },
  )
  while (cloud.control.calls.count(routes.attach) === 0) await new Promise((soon) => setTimeout(soon, 5))
  stop.abort()
  assert.is((await cloudErrorOf(moving)).outcome, 'unknown')
})

test('a look that fails after the write does not say that nothing happened', async () => {
  await using cloud = await open({ changeMs: 60_000 })
  const { id } = await cloud.reserve()
  const machine = cloud.add('one')
  cloud.control.faults.add({ on: routes.list, answer: 500 })
  const error = await cloudErrorOf(cloud.client.assignments.move({ id, machine, from: [], marks: {} }, options))
  assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
})

test('a change that fails after it was accepted is an error, and the next move repairs it', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  const machine = cloud.add('one')
  cloud.control.setChanges({ fail: true })
  const error = await cloudErrorOf(cloud.client.assignments.move({ id, machine, marks: {} }, options))
  assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
  assert.match(error.message, `was not attached to server ${machine}, though that began`)
  assert.is((await cloud.call('GET', `/${id}`)).status, 'error')
  cloud.control.setChanges({ fail: false })
  await cloud.client.assignments.move({ id, machine, marks: {} }, options)
  assert.equal(await cloud.machinesOf(id), [machine])
})

for (const attachElsewhere of ['precondition', 'invalid'] as const)
  test(`where a move is refused (${attachElsewhere}), no address is taken for a server that cannot have it`, async () => {
    await using cloud = await open({ unknowns: { attachElsewhere } })
    const { id } = await cloud.reserve()
    const [one, two] = [cloud.add('one'), cloud.add('two')]
    const { assignments } = cloud.client
    await assignments.move({ id, machine: one, marks: {} }, options)
    cloud.control.devices.powerOff(two)
    await cloudErrorOf(assignments.move({ id, machine: two, marks: {} }, options))
    assert.equal([await cloud.machinesOf(id), cloud.control.calls.count(routes.detach)], [[one], 0])
    cloud.control.devices.powerOn(two)
    await assignments.move({ id, machine: two, marks: {} }, options)
    assert.equal(await cloud.machinesOf(id), [two])
  })

for (const attachElsewhere of ['accept', 'invalid'] as const)
  test(`a full server is refused as a machine, not as a quota of the project (${attachElsewhere})`, async () => {
    await using cloud = await open({ unknowns: { attachElsewhere } })
    const [full, other] = [cloud.add('full'), cloud.add('other')]
    const [first, second] = [await cloud.reserve('first'), await cloud.reserve('second')]
    const { assignments } = cloud.client
    cloud.control.setServerLimit({ addresses: 1 })
    await assignments.move({ id: first.id, machine: full, marks: {} }, options)
    const error = await cloudErrorOf(assignments.move({ id: second.id, machine: full, marks: {} }, options))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, `FlexibleIPsOfServer: 1 of 1 (quotas_exceeded); server ${full} has no room`)
    await assignments.move({ id: second.id, machine: other, marks: {} }, options)
    assert.equal(await cloud.machinesOf(second.id), [other])
  })

for (const mask of ['none', '/32'] as const)
  test(`a server has a public address of its own in each family (mask: ${mask})`, async () => {
    await using cloud = await open({ unknowns: { mask } })
    cloud.add('one')
    const [machine] = await cloud.client.machines(neverAborted)
    const own = machine?.addresses.map(({ address, isPublic, isElastic }) => [isIP(address), isPublic, isElastic])
    assert.equal(own, [
      [4, true, false],
      [6, true, false],
    ])
  })

test('an address that a server has stays there when the new server is full', async () => {
  await using cloud = await open()
  const [full, other] = [cloud.add('full'), cloud.add('other')]
  const [first, second] = [await cloud.reserve('first'), await cloud.reserve('second')]
  const { assignments } = cloud.client
  await assignments.move({ id: first.id, machine: full, marks: {} }, options)
  await assignments.move({ id: second.id, machine: other, marks: {} }, options)
  cloud.control.setServerLimit({ addresses: 1 })
  assert.is(
    (await cloudErrorOf(assignments.move({ id: second.id, machine: full, marks: {} }, options))).fault,
    'invalid',
  )
  assert.equal([await cloud.machinesOf(second.id), cloud.control.calls.count(routes.detach)], [[other], 0])
})

test('the words of a used-up quota, of a key that may only read, and of a locked address reach the person', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  cloud.control.quota.set(1)
  const quota = await cloudErrorOf(cloud.reserve('second'))
  assert.match(
    quota.message,
    /quota\(s\) exceeded; FlexibleIPs: 1 of 1 \(quotas_exceeded\).*quota of the organization raised/,
  )
  const reader = cloud.cloudWith('5ca1e0ff-0000-4000-8000-00read-0nly0')
  const readOnly = await cloudErrorOf(reader.mark({ id, marks: {} }, { cluster: 'two' }, neverAborted))
  assert.match(
    readOnly.message,
    /insufficient permissions; write flexible-ip \(permissions_denied\).*check that the API key/,
  )
  cloud.control.lock(id)
  const locked = await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))
  assert.equal([locked.fault, locked.outcome], ['conflict', 'nothing'])
  assert.match(locked.message, 'resource is locked (locked)')
})

test.run()
