import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../../sandbox/clouds/equinix-metal/unknown-behaviour.ts'
import {
  assignmentContract,
  cloudContract,
  grantContract,
  passwordContract,
  peeringContract,
  projectContract,
} from '../contract.ts'
import { projectId } from './fixtures.ts'
import { assign, key, type Metal, startMetal, startStage } from './stage.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'

// The other answer to every question that nobody outside the vendor can answer.
const otherwise: Partial<UnknownBehaviour> = {
  listOrder: 'oldest-first',
  typesByDefault: 'public-and-global',
  repeatedTypes: 'last',
  unknownLocation: '422',
  foreignProject: '404',
  deleteAssigned: 'cascades',
  failedDevice: '200',
  repeatedBgpConfig: '204',
  emptyBgpConfig: 'nulls',
  assignmentType: 'absent',
}
for (const { name, unknowns } of [
  { name: 'Equinix Metal', unknowns: {} },
  { name: 'Equinix Metal, if it is otherwise', unknowns: otherwise },
]) {
  const start = () => startStage(unknowns)
  cloudContract(name, start)
  grantContract(name, start)
  peeringContract(name, start)
  assignmentContract(name, start)
  projectContract(name, start)
  passwordContract(name, start)
}

const marks = { usage: 'test-auto', cluster: 'one' }

/** A machine that holds a reserved address. */
async function assigned({ simulator, control, cloudWith }: Metal) {
  const cloud = cloudWith(key)
  const { id, address } = await cloud.reserve({ location: 'da', marks }, neverAborted)
  const device = control.devices.add({ hostname: 'node-1' })
  const assignmentId = await assign(simulator.url, String(device['id']), address)
  return { cloud, reservationId: id, assignmentId }
}

for (const assignmentType of ['present', 'absent'] as const)
  test(`the id of an assignment is never deleted (type ${assignmentType})`, async () => {
    await using metal = await startMetal({ assignmentType })
    const { cloud, reservationId, assignmentId } = await assigned(metal)
    const calls = [
      () => cloud.release({ id: assignmentId, marks: {} }, neverAborted),
      () => cloud.reservation(assignmentId, neverAborted),
    ]
    for (const call of calls) {
      const error = await cloudErrorOf(call())
      assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
      assert.match(error.message, 'the assignment of an address to a machine, not a reservation')
    }
    assert.is(metal.control.calls.count('DELETE /ips/{id}'), 0)
    assert.ok(await cloud.reservation(reservationId, neverAborted))
  })

test('an address that a machine holds stays until the machine lets go', async () => {
  await using metal = await startMetal()
  const { cloud, reservationId } = await assigned(metal)
  assert.is((await cloudErrorOf(cloud.release({ id: reservationId, marks: {} }, neverAborted))).fault, 'conflict')
  assert.ok(await cloud.reservation(reservationId, neverAborted))
})

test('blocks that come with a machine are no reservations of ours', async () => {
  await using metal = await startMetal()
  metal.control.devices.add({ hostname: 'node-1' })
  assert.ok(metal.control.reservations.all().length > 0)
  assert.equal(await metal.cloudWith(key).reservations({}, neverAborted), [])
})

test('an address is reserved in a facility where a facility is named', async () => {
  await using metal = await startMetal()
  const reservation = await metal.cloudWith(key).reserve({ location: 'DA11', marks }, neverAborted)
  assert.equal([reservation.state, reservation.location], ['reserved', 'da'])
})

test('a need for approval is an answer, not a ticket', async () => {
  await using metal = await startMetal()
  metal.control.setGrants({ mode: 'review' })
  const cloud = metal.cloudWith(key)
  const error = await cloudErrorOf(cloud.reserve({ location: 'da', marks }, neverAborted))
  assert.equal([error.fault, error.outcome], ['quota', 'nothing'])
  assert.equal(metal.control.reservations.all(), [])
})

for (const failedDevice of ['403', '200'] as const)
  test(`a machine that failed is not gone (${failedDevice})`, async () => {
    await using metal = await startMetal({ failedDevice })
    const id = String(metal.control.devices.add({ hostname: 'node-1', state: 'failed' })['id'])
    const found = await metal.cloudWith(key).machine(id, neverAborted)
    assert.equal([found?.name, found?.state], ['node-1', 'changing'])
  })

test('BGP that waits for approval is not off, and on no machine', async () => {
  await using metal = await startMetal()
  const { peering } = metal.cloudWith(key)
  await peering.enable({ asn: 65_000, password: undefined }, neverAborted)
  metal.control.bgp.setStatus(projectId, 'requested')
  assert.is((await peering.project(neverAborted))?.asn, 65_000)
  const id = String(metal.control.devices.add({ hostname: 'node-1' })['id'])
  assert.match((await cloudErrorOf(peering.enableOn(id, neverAborted))).message, 'that BGP is enabled and approved')
})

test('the private network of a machine is that of its project and metro', async () => {
  await using metal = await startMetal()
  const [here, too, elsewhere] = ['da', 'da', 'ny'].map((metro) =>
    metal.control.devices.add({ hostname: 'node', metro }),
  )
  const networks = new Map(
    (await metal.cloudWith(key).machines(neverAborted)).map(({ id, privateNetwork }) => [id, privateNetwork]),
  )
  const networkOf = (device: Record<string, unknown> | undefined) => networks.get(String(device?.['id']))
  assert.match(networkOf(here) ?? '', /^10\..*\/25$/)
  assert.is(networkOf(here), networkOf(too))
  assert.is.not(networkOf(here), networkOf(elsewhere))
})

test.run()
