import * as assert from 'uvu/assert'
import type { CloudError } from '../../../clouds/ports/cloud.ts'
import { neverAborted } from '../scripted-server.ts'
import { crowd, idsOf, list, marks, reserve } from './reserve.ts'
import { type On, refusalOf } from './stage.ts'

/** Reserving, listing and giving back, as they go well. */
export function reservationRules(on: On): void {
  reserving(on)
  listing(on)
  marking(on)
  releasing(on)
}

function reserving(on: On): void {
  on('an address is reserved in one call, and found by id and marks', async (stage) => {
    const reservation = await reserve(stage)
    assert.is(stage.control.calls.count(), 1)
    assert.is(reservation.state, 'reserved')
    assert.match(reservation.address ?? '', /^\d+\.\d+\.\d+\.\d+$/)
    assert.is(reservation.location, stage.location)
    assert.equal({ ...reservation.marks }, marks)
    assert.ok(Math.abs(Date.parse(reservation.createdAt ?? '') - Date.now()) < 60_000)
    assert.equal(await stage.cloud.reservation(reservation.id, neverAborted), reservation)
    assert.equal(await list(stage, marks), [reservation])
  })

  on('locations have the codes that addresses are reserved by, and each one name', async (stage) => {
    const locations = await stage.cloud.locations(neverAborted)
    const codes = locations.map(({ code }) => code)
    assert.ok(codes.includes(stage.location))
    assert.is(new Set(codes).size, codes.length)
    assert.ok(locations.every(({ name }) => name !== ''))
  })
}

function listing(on: On): void {
  on('two clusters in one project see their own addresses alone', async (stage) => {
    const one = await reserve(stage, { cluster: 'one' })
    const two = await reserve(stage, { cluster: 'two' })
    const { usage } = marks
    assert.equal(idsOf(await list(stage, { usage, cluster: 'one' })), [one.id])
    assert.equal(idsOf(await list(stage, { usage, cluster: 'two' })), [two.id])
    assert.equal(idsOf(await list(stage, { usage })), [one.id, two.id].toSorted())
    assert.equal(await list(stage, { usage, cluster: 'three' }), [])
  })

  on('270 addresses are all listed, and the last one found', async (stage) => {
    const ids = await crowd(stage, 270)
    assert.equal(idsOf(await list(stage, { usage: marks.usage })), ids)
    for (const n of [0, 135, 269]) assert.is((await list(stage, { ...marks, service: `s${n}` })).length, 1)
  })

  on('a cloud that gives shorter pages than it was asked for gives them all', async (stage) => {
    const ids = await crowd(stage, 12)
    stage.control.faults.add({ on: stage.routes.list, answer: 'short-pages', perPage: 5 })
    assert.equal(idsOf(await list(stage)), ids)
  })

  on('a cloud that gives shorter pages in between gives them all', async (stage) => {
    const ids = await crowd(stage, 12)
    stage.control.faults.add({ on: stage.routes.list, answer: 'short-pages', perPage: 5, times: 1 })
    assert.equal(idsOf(await list(stage)), ids)
  })

  on('pages that do not fit together are never taken for the whole', async (stage) => {
    const ids = await crowd(stage, 120)
    stage.control.faults.add({ on: stage.routes.list, answer: 'shuffled-list' })
    const listed = await list(stage).catch((error: CloudError) => error.fault)
    assert.equal(Array.isArray(listed) ? idsOf(listed) : listed, Array.isArray(listed) ? ids : 'unavailable')
  })
}

function marking(on: On): void {
  on('marks are changed and taken off, and the others stay', async (stage) => {
    const { id } = await reserve(stage, { team: 'edge', waiting: 'yes' })
    await stage.cloud.mark({ id, marks: {} }, { service: 'other==', waiting: undefined }, neverAborted)
    const found = await stage.cloud.reservation(id, neverAborted)
    assert.equal({ ...found?.marks }, { ...marks, service: 'other==', team: 'edge' })
    assert.equal(idsOf(await list(stage, { service: 'other==' })), [id])
  })

  on('of two changes of the marks at the same time, none undoes the other', async (stage) => {
    const { id } = await reserve(stage)
    const change = (mark: Record<string, string>) => stage.cloud.mark({ id, marks: {} }, mark, neverAborted)
    await Promise.all([change({ service: 'other==' }), change({ sign: 'one' })])
    const found = await stage.cloud.reservation(id, neverAborted)
    assert.equal({ ...found?.marks }, { ...marks, service: 'other==', sign: 'one' })
  })

  on('marks that are there already need no second write, and what no longer exists none at all', async (stage) => {
    const { id } = await reserve(stage)
    stage.control.calls.clear()
    await stage.cloud.mark({ id, marks: {} }, marks, neverAborted)
    assert.is(stage.control.calls.count(), 1)
    await stage.cloud.release({ id, marks: {} }, neverAborted)
    await stage.cloud.mark({ id, marks: {} }, { service: 'other==' }, neverAborted)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
  })

  on('an address that lacks the marks of the caller is another one by now, and gets no others', async (stage) => {
    const reservation = await reserve(stage, { team: 'edge' })
    const { id } = reservation
    await stage.cloud.mark({ id, marks: { ...marks, team: 'core' } }, { service: 'other==' }, neverAborted)
    assert.equal((await stage.cloud.reservation(id, neverAborted))?.marks, reservation.marks)
    await stage.cloud.mark({ id, marks: { ...marks, team: 'edge' } }, { service: 'other==' }, neverAborted)
    assert.is((await stage.cloud.reservation(id, neverAborted))?.marks['service'], 'other==')
  })
}

function releasing(on: On): void {
  on('an address that is given back no longer exists, and giving it back again is fine', async (stage) => {
    const kept = await reserve(stage, { service: 'kept' })
    const { id } = await reserve(stage)
    await stage.cloud.release({ id, marks: {} }, neverAborted)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
    assert.equal(idsOf(await list(stage)), [kept.id])
    await stage.cloud.release({ id, marks: {} }, neverAborted)
    assert.equal(idsOf(await list(stage)), [kept.id])
  })

  on('an address that lacks the marks of the caller is another one by now, and stays', async (stage) => {
    const { id } = await reserve(stage)
    await stage.cloud.release({ id, marks: { ...marks, service: 'other==' } }, neverAborted)
    assert.is((await stage.cloud.reservation(id, neverAborted))?.id, id)
    await stage.cloud.release({ id, marks }, neverAborted)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
  })

  on('an address that a machine has is not deleted', async (stage) => {
    const { id, address = '' } = await reserve(stage)
    await stage.machines.lend(stage.machines.add('node-1'), address)
    const error = await refusalOf(stage, stage.cloud.release({ id, marks }, neverAborted))
    assert.equal([error.fault, error.outcome], ['conflict', 'nothing'])
    assert.is(stage.control.calls.count(stage.routes.release), 0)
    assert.is((await stage.cloud.reservation(id, neverAborted))?.id, id)
  })

  on('an address that never was no longer exists', async (stage) => {
    const id = '00000000-0000-4000-8000-000000000000'
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
    await stage.cloud.release({ id, marks: {} }, neverAborted)
  })

  on(
    'an address that the provider still shows after its deletion can be given back again, until it no longer exists',
    async (stage) => {
      stage.control.setDeletion({ reservationsMs: 60_000 })
      const reservation = await reserve(stage)
      await stage.cloud.release({ id: reservation.id, marks: {} }, neverAborted)
      assert.equal(await list(stage, marks), [reservation])
      await stage.cloud.release({ id: reservation.id, marks: {} }, neverAborted)
      stage.control.reservations.vanish(reservation.id)
      assert.is(await stage.cloud.reservation(reservation.id, neverAborted), undefined)
      assert.equal(await list(stage), [])
      await stage.cloud.release({ id: reservation.id, marks: {} }, neverAborted)
      await stage.cloud.mark({ id: reservation.id, marks: {} }, { service: 'other' }, neverAborted)
    },
  )

  on('an address that somebody else gave back no longer exists', async (stage) => {
    const { id } = await reserve(stage)
    stage.control.reservations.vanish(id)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
    await stage.cloud.release({ id, marks: {} }, neverAborted)
  })

  on('a release whose answer is lost can be asked for again', async (stage) => {
    const { id } = await reserve(stage)
    stage.control.faults.add({ on: stage.routes.release, answer: 'reset', done: true, times: 1 })
    const error = await refusalOf(stage, stage.cloud.release({ id, marks: {} }, neverAborted))
    assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
    await stage.cloud.release({ id, marks: {} }, neverAborted)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
  })
}
