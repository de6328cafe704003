import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { idProblem } from '../../ledger/cluster.ts'

const uid = 'uid-of-kube-system'
const map = (cluster?: string, confirmed?: string) => ({
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: {
    namespace: 'eip-admission',
    name: 'eip-admission-ledger',
    ...(confirmed !== undefined && { annotations: { 'eip-admission.dev/confirm-cluster': confirmed } }),
  },
  data: cluster === undefined ? {} : { cluster },
})

const cases: [name: string, of: Parameters<typeof idProblem>[0], problem: RegExp | undefined][] = [
  ['the first start with the default', { configured: undefined, uid, map: undefined }, undefined],
  ['the first start with an id', { configured: 'prod', uid, map: undefined }, undefined],
  ['the same id again', { configured: 'prod', uid, map: map('prod') }, undefined],
  ['the default again', { configured: undefined, uid, map: map(uid) }, undefined],
  [
    'a new id',
    { configured: 'prod', uid, map: map(uid) },
    /it is prod, .* have the id uid-.*leave --cluster-id out.*=prod/,
  ],
  ['a new id for a ledger without an entry', { configured: 'prod', uid, map: map() }, /have the id uid-of-kube-system/],
  ['no id any more', { configured: undefined, uid, map: map('prod') }, /by default, but .* id prod.*--cluster-id=prod/],
  ['a new id that a person has confirmed', { configured: 'prod', uid, map: map(uid, 'prod') }, undefined],
  ['a confirmation of another id', { configured: 'prod', uid, map: map(uid, 'stage') }, /it is prod/],
]
for (const [name, of, expected] of cases) {
  test(`${name} is ${expected ? 'refused' : 'accepted'}`, () => {
    const problem = idProblem(of)
    const text = problem && `${problem.wrong}; ${problem.right}`
    if (expected === undefined) assert.is(text, undefined)
    else assert.match(text ?? '', expected)
  })
}

test.run()
