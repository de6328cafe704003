import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeCache } from '../../kube/reflector.ts'
import type { KubeObject } from '../../kube/objects.ts'

function object(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name, uid: name, resourceVersion } }
}

test('a put of an unchanged object makes no change, and the old object stays', () => {
  const cache = makeCache()
  const first = object('a', '1')
  assert.equal(cache.put(first), [{ key: 'a', current: first, previous: undefined }])
  assert.equal(cache.put(object('a', '1')), [])
  assert.equal(cache.replace([object('a', '1')]), [])
  assert.is(cache.get('a'), first)
})

test('replace drops the objects that the list does not have', () => {
  const cache = makeCache()
  const [a, b] = [object('a', '1'), object('b', '1')]
  cache.replace([a])
  assert.equal(cache.replace([b]), [
    { key: 'a', current: undefined, previous: a },
    { key: 'b', current: b, previous: undefined },
  ])
  assert.equal(cache.list(), [b])
})

test('a drop of an unknown object makes no change', () => {
  assert.equal(makeCache().drop(object('a', '1')), [])
})

test.run()
