import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metalReservation, reserved } from './fixtures.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { asked, errors, withRoutes } from './scripted-metal.ts'

const { id } = reserved
const path = `/ips/${id}`
const marks = { service: 'new==', waiting: undefined }
const found = { json: { ...metalReservation(), tags: ['usage=u', 'team=edge', 'a bare word', 'waiting=yes'] } }

test('tags are read before they are written, because people write tags, too', async () => {
  await withRoutes({ [`GET ${path}`]: found, [`PATCH ${path}`]: found }, async (cloud, seen) => {
    await cloud.mark({ id, marks: {} }, marks, neverAborted)
    assert.equal(asked(seen), [`GET ${path}`, `PATCH ${path}`])
    assert.equal(seen[1]?.body, { tags: ['usage=u', 'team=edge', 'a bare word', 'service=new=='] })
  })
})

test('a reservation that is deleted in between needs no marks', async () => {
  await withRoutes({ [`GET ${path}`]: found, [`PATCH ${path}`]: errors(404, 'Not found') }, async (cloud) => {
    await cloud.mark({ id, marks: {} }, marks, neverAborted)
  })
})

test('an id that is an assignment by now is left alone', async () => {
  const assignment = { json: { ...metalReservation(), type: 'IPAssignment', assigned_to: { href: '/devices/1' } } }
  await withRoutes({ [`GET ${path}`]: assignment }, async (cloud, seen) => {
    await cloud.mark({ id, marks: {} }, marks, neverAborted)
    assert.equal(asked(seen), [`GET ${path}`])
  })
})

test('a key that may not write is said to be that', async () => {
  const routes = { [`GET ${path}`]: found, [`PATCH ${path}`]: errors(403, 'You are not authorized') }
  await withRoutes(routes, async (cloud) => {
    const error = await cloudErrorOf(cloud.mark({ id, marks: {} }, marks, neverAborted))
    assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
  })
})

test.run()
