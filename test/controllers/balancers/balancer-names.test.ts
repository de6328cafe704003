import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { balancerNames, originName } from '../../../controllers/balancers/balancer-names.ts'

const namesOf = (key: string, cluster = 'cluster-1') => balancerNames({ key, cluster, former: 'previous-name' })
const longest = `${'n'.repeat(63)}/${'s'.repeat(63)}`

test('a name shows its Service, and has at most 64 characters with its longest suffix', () => {
  assert.match(namesOf('default/web').balancer, /^default\.web-[0-9a-f]{24}$/)
  assert.ok(namesOf(longest).pool(65_535).length <= 64)
  assert.is(originName('x'.repeat(200)).length, 64)
})

test('Services, namespaces and clusters have different names, also where the cut text is the same', () => {
  const all = [
    namesOf('default/web'),
    namesOf('default/web', 'cluster-2'),
    namesOf('web/default'),
    namesOf(longest),
    namesOf(`${longest.slice(0, -1)}t`),
  ].map(({ balancer }) => balancer)
  assert.is(new Set(all).size, all.length)
})

test('a balancer is known by our name and by that of the predecessor, and by no other', () => {
  const { isBalancer, balancer, pool } = namesOf('default/web')
  assert.equal([balancer, 'previous-name', pool(80), `${balancer}x`, ''].map(isBalancer), [
    true,
    true,
    false,
    false,
    false,
  ])
})

test('a pool is known by its name and port', () => {
  const { pool, portOfPool, balancer } = namesOf('default/web')
  assert.is(portOfPool(pool(443)), 443)
  for (const name of [
    `${balancer}-pool-`,
    `${balancer}-pool-x`,
    `${balancer}-pool-080`,
    namesOf('default/other').pool(80),
  ]) {
    assert.is(portOfPool(name), undefined, name)
  }
})

test.run()
