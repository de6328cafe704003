import * as assert from 'uvu/assert'
import { neverAborted } from '../scripted-server.ts'
import { list, marks, reserve } from './reserve.ts'
import type { AssignmentStage, On, Stage } from './stage.ts'

const reserveSix = ({ cloud, location }: Stage, more = {}) =>
  cloud.reserve({ location, marks: { ...marks, ...more }, family: 'ipv6' }, neverAborted)

/** Duties of a cloud that also reserves IPv6 addresses, and assigns them. */
export function familyRules(on: On<AssignmentStage>): void {
  on('an IPv6 address is one of its network, and stays the same', async (stage) => {
    const reservation = await reserveSix(stage)
    assert.match(reservation.address ?? '', /^2001:db8:[0-9a-f:]+::1$/)
    assert.is(reservation.location, stage.location)
    assert.equal({ ...reservation.marks }, marks)
    assert.equal(await stage.cloud.reservation(reservation.id, neverAborted), reservation)
    assert.equal(await list(stage, marks), [reservation])
  })

  on('an address of each family can have the same marks, and each is released alone', async (stage) => {
    const [four, six] = [await reserve(stage), await reserveSix(stage)]
    assert.not.equal(four.id, six.id)
    assert.is((await list(stage, marks)).length, 2)
    await stage.cloud.release(four, neverAborted)
    assert.equal(await list(stage, marks), [six])
  })

  on('an IPv6 address is assigned to a machine and taken from it', async ({ cloud, machines, ...stage }) => {
    const { id, address } = await reserveSix({ cloud, machines, ...stage })
    const machine = machines.add('node-1')
    const options = { signal: neverAborted, writeMs: () => 2_000 }
    await cloud.assignments.move({ id, machine, marks: {} }, options)
    const [found] = await cloud.assignments.assignedAddresses(undefined, neverAborted)
    assert.equal([found?.address, found?.machines], [address, [machine]])
    await cloud.assignments.unassign({ id, marks: {} }, options)
    await cloud.release({ id, marks: {} }, neverAborted)
    assert.equal(await cloud.reservations({}, neverAborted), [])
  })

  on('the control-plane address is an IPv4 address, whatever else has its tag', async (stage) => {
    const { address } = await reserve(stage, { 'control-plane': 'prod' })
    await reserveSix(stage, { 'control-plane': 'prod' })
    const tag = `${stage.tagPrefix ?? ''}control-plane=prod`
    const found = await stage.cloud.assignments.assignedAddresses(tag, neverAborted)
    assert.equal(
      found.map((one) => one.address),
      [address],
    )
  })
}
