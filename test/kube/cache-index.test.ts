import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { indexCache, type Listener } from '../../kube/reflector.ts'
import type { Service } from '../../kube/objects.ts'
import { makeService } from '../builders.ts'

test('an index finds the objects that have a value now', () => {
  let change: Listener<Service> = () => assert.unreachable()
  const index = indexCache<Service>({ onChange: (listener) => void (change = listener) }, ({ spec }) =>
    spec.loadBalancerIP === undefined ? [] : [spec.loadBalancerIP],
  )
  const [one, other] = ['a', 'b'].map((name) => makeService({ name, loadBalancerIP: '192.0.2.1' })) as [
    Service,
    Service,
  ]
  const moved = makeService({ name: 'a', loadBalancerIP: '192.0.2.2' })
  change('default/a', one, undefined)
  change('default/b', other, undefined)
  assert.equal(index.of('192.0.2.1'), [one, other])
  change('default/a', moved, one)
  assert.equal([index.of('192.0.2.1'), index.of('192.0.2.2')], [[other], [moved]])
  change('default/b', undefined, other)
  assert.equal(index.of('192.0.2.1'), [])
})

test.run()
