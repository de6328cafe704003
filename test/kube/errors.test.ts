import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError, isAlreadyExists, isConflict, isGone, isNotFound, isTooLarge } from '../../kube/errors.ts'

const cases: { status: number; reason: string; is: string[] }[] = [
  { status: 401, reason: 'Unauthorized', is: [] },
  { status: 403, reason: 'Forbidden', is: [] },
  { status: 404, reason: 'NotFound', is: ['not found'] },
  { status: 404, reason: 'UnknownKind', is: ['not found'] },
  { status: 409, reason: 'Conflict', is: ['conflict'] },
  { status: 409, reason: 'AlreadyExists', is: ['already exists'] },
  { status: 410, reason: 'Expired', is: ['gone'] },
  { status: 410, reason: 'Gone', is: ['gone'] },
  { status: 0, reason: 'Timeout', is: [] },
  { status: 200, reason: 'TooLarge', is: ['too large'] },
]

for (const { status, reason, is } of cases) {
  test(`${status} ${reason} is ${is.join() || 'none of the kinds that callers handle'}`, () => {
    assert.equal(kindsOf(new KubeError('get Service default/web', { status, reason })), is)
  })
}

test('another kind of error is none of these, whatever its fields', () => {
  assert.equal(kindsOf(Object.assign(new Error('no'), { status: 404, reason: 'NotFound' })), [])
  assert.equal(kindsOf(undefined), [])
})

function kindsOf(error: unknown): string[] {
  const kinds = {
    'not found': isNotFound,
    conflict: isConflict,
    'already exists': isAlreadyExists,
    gone: isGone,
    'too large': isTooLarge,
  }
  return Object.entries(kinds).flatMap(([kind, isSo]) => (isSo(error) ? [kind] : []))
}

test.run()
