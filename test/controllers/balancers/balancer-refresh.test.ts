import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { balancerRefresh, withoutBalancer } from '../../../controllers/balancers/declaration.ts'
import type { Service } from '../../../kube/objects.ts'
import { makeService } from '../../builders.ts'
import { annotations, makeBalancer } from './builders.ts'

const naming = (name: string, id?: string): Service =>
  makeService({ name, ...(id !== undefined && { annotations: { [annotations.id]: id } }) })

const cases: [what: string, services: Service[], listed: string[], keys: string[]][] = [
  ['each Service has its balancer', [naming('one', 'b1'), naming('two', 'b2')], ['b1', 'b2', 'b3'], []],
  ['one balancer no longer exists', [naming('one', 'b1'), naming('two', 'b2')], ['b1'], ['default/two']],
  [
    'two Services name one that no longer exists',
    [naming('one', 'b'), naming('two', 'b')],
    [],
    ['default/one', 'default/two'],
  ],
  ['a Service has none yet', [naming('one')], [], []],
  ['a Service names nothing', [naming('one', '')], [], []],
]
for (const [what, services, ids, keys] of cases)
  test(`${what}: ${keys.join(' and ') || 'none'} is looked at`, () => {
    const listed = ids.map((id) => makeBalancer({ id }))
    assert.equal(withoutBalancer(services, { listed, annotations }), keys)
  })

test('one list serves all Services, and without a balancer there is none', async () => {
  let [lists, services] = [0, [naming('one')]]
  const balancers = { list: async () => ((lists += 1), [makeBalancer({ id: 'b1' })]) }
  const refresh = balancerRefresh({ balancers, annotations, served: () => services })
  const looked: string[] = []
  refresh.onChange((key) => void looked.push(key))
  const { signal } = new AbortController()
  await refresh.run(signal)
  assert.is(lists, 0)
  services = [naming('one', 'b1'), naming('two', 'b2'), naming('three', 'b3')]
  await refresh.run(signal)
  assert.equal([lists, looked], [1, ['default/two', 'default/three']])
})

test.run()
