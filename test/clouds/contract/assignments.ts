import * as assert from 'uvu/assert'
import type { Assignments } from '../../../clouds/ports/assignments.ts'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { neverAborted } from '../scripted-server.ts'
import { marks, reserve } from './reserve.ts'
import { type AssignmentStage, type On, refusalOf } from './stage.ts'

type Target = Parameters<Assignments['move']>[0]

const tagOf = ({ tagPrefix = '' }: AssignmentStage) => `${tagPrefix}control-plane=prod`

/** An address with the tag, and machines of these names. */
export async function room(stage: AssignmentStage, names = ['one', 'two', 'three'] as const) {
  const { id, address } = await reserve(stage, { 'control-plane': 'prod' })
  const [one, two, three] = names.map((name) => stage.machines.add(name))
  stage.control.calls.clear()
  return { id, address: address ?? '', one: one ?? '', two: two ?? '', three: three ?? '' }
}

export const move = (stage: AssignmentStage, target: Target, mayWrite = () => true) =>
  stage.cloud.assignments.move(target, { signal: neverAborted, writeMs: () => (mayWrite() ? 2_000.5 : 0) })

/** The machines that have an address, as the cloud says it. */
export const machinesOf = async (stage: AssignmentStage, id: string) =>
  (await stage.cloud.assignments.assignedAddress(id, neverAborted))?.machines

export const writes = ({ control }: AssignmentStage) =>
  control.calls.all().filter(({ method }) => method !== 'GET').length

/** Which machine has an address, and how it gets to another. */
export function assignmentRules(on: On<AssignmentStage>): void {
  finding(on)
  moving(on)
}

function finding(on: On<AssignmentStage>): void {
  on('an address is found by its tag, with the machine that has it', async (stage) => {
    const { id, address, one } = await room(stage)
    const { assignments } = stage.cloud
    const tag = tagOf(stage)
    const [{ tags, marks, home, ...unassigned } = { tags: [''] }] = await assignments.assignedAddresses(
      tag,
      neverAborted,
    )
    assert.equal(unassigned, { id, address, machines: [] })
    assert.ok(tags.includes(tag), `its tags ${tags.join(', ')}`)
    assert.equal(marks, (await stage.cloud.reservation(id, neverAborted))?.marks)
    await stage.machines.lend(one, address)
    const shown = { id, address, machines: [one], tags, marks, ...(home && { home }) }
    assert.equal(await assignments.assignedAddresses(tag, neverAborted), [shown])
    assert.equal(await assignments.assignedAddress(id, neverAborted), shown)
  })

  on('a tag that only begins or ends alike, or has another value, is another tag', async (stage) => {
    await reserve(stage, { 'control-plane': 'prod2' })
    await reserve(stage, { 'my-control-plane': 'prod' })
    await reserve(stage, { 'control-plane': '' })
    assert.equal(await stage.cloud.assignments.assignedAddresses(tagOf(stage), neverAborted), [])
  })

  on('every address with the tag is found, among many others', async (stage) => {
    const others = Array.from({ length: 120 }, (_, n) => `s${n}`)
    stage.control.quota.set(200)
    await Promise.all(others.map((service) => reserve(stage, { service })))
    const both: Reservation[] = []
    for (const service of ['first', 'second']) both.push(await reserve(stage, { service, 'control-plane': 'prod' }))
    const found = await stage.cloud.assignments.assignedAddresses(tagOf(stage), neverAborted)
    assert.equal(found.map(({ id }) => id).toSorted(), both.map(({ id }) => id).toSorted())
  })

  on('an address that no longer exists no longer exists, and cannot be moved', async (stage) => {
    const { id, one } = await room(stage)
    stage.control.reservations.vanish(id)
    assert.is(await stage.cloud.assignments.assignedAddress(id, neverAborted), undefined)
    assert.equal(await stage.cloud.assignments.assignedAddresses(tagOf(stage), neverAborted), [])
    const error = await refusalOf(stage, move(stage, { id, machine: one, marks: {} }))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, `address ${id} cannot be moved: its reservation no longer exists`)
    assert.is(writes(stage), 0)
  })

  on('no address no longer exists while the provider fails, or to a key that it does not know', async (stage) => {
    const { id } = await room(stage)
    await refusalOf(stage, stage.withUnknownKey.assignments.assignedAddress(id, neverAborted))
    await refusalOf(stage, stage.withUnknownKey.assignments.assignedAddresses(tagOf(stage), neverAborted))
    stage.control.faults.add({ on: 'GET', answer: 500 })
    await refusalOf(stage, stage.cloud.assignments.assignedAddress(id, neverAborted))
    await refusalOf(stage, stage.cloud.assignments.assignedAddresses(tagOf(stage), neverAborted))
  })
}

function moving(on: On<AssignmentStage>): void {
  on('an address is taken from its machine, and again without harm', async (stage) => {
    const { id, one } = await room(stage)
    const unassign = (of: string) =>
      stage.cloud.assignments.unassign({ id: of, marks: {} }, { signal: neverAborted, writeMs: () => 2_000 })
    await move(stage, { id, machine: one, marks: {} })
    await unassign(id)
    assert.equal(await machinesOf(stage, id), [])
    stage.control.calls.clear()
    await unassign(id)
    assert.is(writes(stage), 0)
    await stage.cloud.release({ id, marks: {} }, neverAborted)
    await unassign(id)
  })

  on('an address that lacks the marks or the tag of the caller is another one by now, and stays', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    stage.control.calls.clear()
    for (const lacking of [{ marks: { ...marks, service: 'other==' } }, { marks: {}, tag: `${tagOf(stage)}2` }]) {
      const target = { id, machine: two, ...lacking }
      assert.is((await refusalOf(stage, move(stage, target))).outcome, 'nothing')
      await stage.cloud.assignments.unassign(target, { signal: neverAborted, writeMs: () => 2_000 })
    }
    assert.is(writes(stage), 0)
    assert.equal(await machinesOf(stage, id), [one])
    await move(stage, { id, machine: two, marks, tag: tagOf(stage) })
    assert.equal(await machinesOf(stage, id), [two])
  })

  on('an address that no machine has is assigned in one write', async (stage) => {
    const { id, one } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    assert.equal(await machinesOf(stage, id), [one])
    assert.is(writes(stage), 1)
  })

  on('an address moves from one machine to another, and back, and keeps its tags', async (stage) => {
    const { id, one, two } = await room(stage)
    const before = await stage.cloud.reservation(id, neverAborted)
    for (const machine of [one, two, one]) {
      await move(stage, { id, machine, marks: {} })
      assert.equal(await machinesOf(stage, id), [machine])
    }
    assert.is(writes(stage), 1 + 2 * stage.writesOfMove)
    const { holder, ...after } = (await stage.cloud.reservation(id, neverAborted)) ?? {}
    assert.ok(holder, 'who reads the reservation learns that it is assigned')
    assert.equal(after, before)
  })

  on('an address that is there already needs no write, and nobody is asked for one', async (stage) => {
    const { id, address, one } = await room(stage)
    await stage.machines.lend(one, address)
    stage.control.calls.clear()
    await move(stage, { id, machine: one, marks: {} }, () => {
      throw new Error('asked')
    })
    assert.is(writes(stage), 0)
  })

  on('the address of a machine that was removed is assigned to another in one write', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    stage.machines.remove(one)
    stage.control.calls.clear()
    assert.equal(await machinesOf(stage, id), [])
    await move(stage, { id, machine: two, marks: {} })
    assert.equal(await machinesOf(stage, id), [two])
    assert.is(writes(stage), 1)
  })

  on('two addresses of two machines move without each other', async (stage) => {
    const { id, one, two } = await room(stage)
    const other = await reserve(stage, { service: 'other' })
    await move(stage, { id: other.id, machine: two, marks: {} })
    await move(stage, { id, machine: one, marks: {} })
    await move(stage, { id, machine: two, marks: {} })
    assert.equal([await machinesOf(stage, id), await machinesOf(stage, other.id)], [[two], [two]])
    await move(stage, { id: other.id, machine: one, marks: {} })
    assert.equal([await machinesOf(stage, id), await machinesOf(stage, other.id)], [[two], [one]])
  })
}
