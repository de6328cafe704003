import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetal } from '../../clouds/equinix-metal.ts'
import { startEquinixMetal } from '../../sandbox/clouds/equinix-metal/server.ts'
import type { Unknowns } from '../../sandbox/clouds/equinix-metal/unknowns.ts'
import { cloudContract, type Stage } from './contract.ts'
import { cloudErrorOf, neverAborted } from './scripted-server.ts'

const projectId = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
const key = 'metal-key-5ecret'
const readOnlyKey = 'metal-key-read-0nly'
const unknownKey = 'metal-key-unkn0wn'

async function startMetal(unknowns: Partial<Unknowns> = {}) {
  const simulator = await startEquinixMetal({
    projects: [{ id: projectId }],
    tokens: [
      { token: key, projects: [projectId] },
      { token: readOnlyKey, projects: [projectId], readOnly: true },
    ],
    unknowns,
  })
  const cloudWith = (apiKey: string) =>
    equinixMetal({
      apiKey: { reveal: () => apiKey },
      projectId,
      baseUrl: simulator.url,
      userAgent: 'eip-admission/test',
      retryDelayMs: 5,
    })
  return { simulator, door: simulator.door, cloudWith, [Symbol.asyncDispose]: simulator.close }
}

async function startStage(unknowns: Partial<Unknowns>): Promise<Stage> {
  const metal = await startMetal(unknowns)
  const { door, cloudWith } = metal
  return {
    cloud: cloudWith(key),
    withUnknownKey: cloudWith(unknownKey),
    withReadOnlyKey: cloudWith(readOnlyKey),
    keys: [key, unknownKey, readOnlyKey],
    location: 'da',
    door,
    routes: { reserve: 'POST /projects/{id}/ips', release: 'DELETE /ips/{id}', list: 'GET /projects/{id}/ips' },
    grantLate: () => door.setGrants({ mode: 'late' }),
    grant: (id) => void door.reservations.grant(id),
    deny: (id) => void door.reservations.deny(id),
    [Symbol.asyncDispose]: metal[Symbol.asyncDispose],
  }
}

cloudContract('Equinix Metal', () => startStage({}))

// The other answer to every question that nobody outside the vendor can answer.
const otherwise: Partial<Unknowns> = {
  listOrder: 'oldest-first',
  typesByDefault: 'public-and-global',
  unknownLocation: '422',
  foreignProject: '404',
  deleteAssigned: 'cascades',
  assignmentType: 'absent',
}
cloudContract('Equinix Metal, if it is otherwise', () => startStage(otherwise))

const marks = { usage: 'test-auto', cluster: 'one' }

/** A machine that holds a reserved address, put there as a person would do it. */
async function assigned({ simulator, door, cloudWith }: Awaited<ReturnType<typeof startMetal>>) {
  const cloud = cloudWith(key)
  const { id, address } = await cloud.reserve({ location: 'da', marks }, neverAborted)
  const device = door.devices.add({ hostname: 'node-1' })
  const response = await fetch(`${simulator.url}/devices/${String(device['id'])}/ips`, {
    method: 'POST',
    headers: { 'x-auth-token': key, 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
  })
  const assignment = (await response.json()) as { id: string }
  return { cloud, reservationId: id, assignmentId: assignment.id }
}

for (const assignmentType of ['present', 'absent'] as const)
  test(`the id of an assignment is never deleted (type ${assignmentType})`, async () => {
    await using metal = await startMetal({ assignmentType })
    const { cloud, reservationId, assignmentId } = await assigned(metal)
    const calls = [() => cloud.release(assignmentId, neverAborted), () => cloud.reservation(assignmentId, neverAborted)]
    for (const call of calls) {
      const error = await cloudErrorOf(call())
      assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
      assert.match(error.message, 'the assignment of an address to a machine, not a reservation')
    }
    assert.is(metal.door.calls.count('DELETE /ips/{id}'), 0)
    assert.ok(await cloud.reservation(reservationId, neverAborted))
  })

test('an address that a machine holds stays until the machine lets go', async () => {
  await using metal = await startMetal()
  const { cloud, reservationId } = await assigned(metal)
  assert.is((await cloudErrorOf(cloud.release(reservationId, neverAborted))).fault, 'conflict')
  assert.ok(await cloud.reservation(reservationId, neverAborted))
})

test('an address that the cloud still shows after its deletion can be given back again', async () => {
  await using metal = await startMetal()
  metal.door.setDeletion({ reservationsMs: 60_000 })
  const cloud = metal.cloudWith(key)
  const { id } = await cloud.reserve({ location: 'da', marks }, neverAborted)
  await cloud.release(id, neverAborted)
  assert.is((await cloud.reservations(marks, neverAborted)).length, 1)
  await cloud.release(id, neverAborted)
})

test('blocks that come with a machine are no reservations of ours', async () => {
  await using metal = await startMetal()
  metal.door.devices.add({ hostname: 'node-1' })
  assert.ok(metal.door.reservations.all().length > 0)
  assert.equal(await metal.cloudWith(key).reservations({}, neverAborted), [])
})

test('an address is reserved in a facility where a facility is named', async () => {
  await using metal = await startMetal()
  const reservation = await metal.cloudWith(key).reserve({ location: 'DA11', marks }, neverAborted)
  assert.equal([reservation.state, reservation.location], ['reserved', 'da'])
})

test('a need for approval is an answer, not a ticket', async () => {
  await using metal = await startMetal()
  metal.door.setGrants({ mode: 'review' })
  const cloud = metal.cloudWith(key)
  const error = await cloudErrorOf(cloud.reserve({ location: 'da', marks }, neverAborted))
  assert.equal([error.fault, error.outcome], ['quota', 'nothing'])
  assert.equal(metal.door.reservations.all(), [])
})

test.run()
