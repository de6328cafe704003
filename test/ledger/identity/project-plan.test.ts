import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { confirmProjectAnnotation } from '../../../ledger/record/names.ts'
import { type ProjectSeen, planProject, reasonOf } from '../../../ledger/identity/project-plan.ts'
import { makeReservation } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const at = { namespace: 'eip', name: 'ledger' }
const map = (data: Record<string, string>, confirmed?: string): ProjectSeen['map'] => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...at, ...(confirmed !== undefined && { annotations: { [confirmProjectAnnotation]: confirmed } }) },
  data,
})
const of = (cluster: string, id = 'res-9') => makeReservation({ id, marks: { usage: 'u', cluster } })

const cases: [name: string, seen: Partial<ProjectSeen>, expected: string | RegExp][] = [
  ['the project that the ledger remembers', { map: map({ project: 'now' }) }, 'ours'],
  ['it, while the provider lists nothing', { map: map({ project: 'now' }), held: ['res-1'], listed: [] }, 'ours'],
  ['the project that an earlier version swept', { map: map({ adopted: 'now' }), held: ['res-1'] }, 'remember'],
  [
    'another one',
    { map: map({ project: 'previous' }) },
    /belongs to project previous, .* name project now \(PROJECT\): .*;/,
  ],
  ['another one than was swept', { map: map({ adopted: 'previous' }) }, /confirm-project=now`$/],
  [
    'another one that bought addresses with our marks',
    { map: map({ project: 'previous' }), listed: [of('us')] },
    /previous/,
  ],
  ['another one that a person confirmed', { map: map({ project: 'previous' }, 'now') }, 'remember'],
  ['a confirmation of a third one', { map: map({ project: 'previous' }, 'third') }, /belongs to project previous/],
  ['the first start', { listed: [] }, 'remember'],
  ['the first start, and the provider has no such project', {}, 'ours'],
  ['the first start after the id was set', { map: map({ cluster: 'us' }), listed: [] }, 'remember'],
  ['no memory, and a reservation of a record', { held: ['res-1'], listed: [of('other', 'res-1')] }, 'remember'],
  ['no memory, and a reservation with our mark', { held: ['res-1'], listed: [of('us')] }, 'remember'],
  [
    'no memory, and an empty project',
    { held: ['res-1'], listed: [] },
    /has 1 reservation, .* none of them: .*previous/,
  ],
  ['no memory, and the project of another cluster', { held: ['res-1'], listed: [of('other')] }, /has none of them/],
  ['no memory, but confirmed', { map: map({}, 'now'), held: ['res-1'], listed: [] }, 'remember'],
  ['no memory, and a silent cloud', { held: ['res-1'], listed: undefined }, /could not be read yet/],
]
for (const [name, seen, expected] of cases) {
  test(`${name}: ${String(expected)}`, () => {
    const project = { id: 'now', setting: 'PROJECT' }
    const plan = planProject({ project, at, map: undefined, held: [], listed: undefined, cluster: 'us', ...seen })
    if (typeof expected === 'string') assert.is(plan.kind, expected)
    else assert.match(reasonOf(plan) ?? plan.kind, expected)
  })
}

const ofToken: [name: string, seen: Partial<ProjectSeen>, expected: string | RegExp][] = [
  ['the first start', { listed: [] }, 'remember'],
  ['a start without any reservation', { map: map({ project: 'now' }), listed: [] }, 'remember'],
  ['a token that the provider refuses', {}, 'ours'],
  [
    'a reservation of a record',
    { map: map({ project: 'now' }), held: ['res-1'], listed: [of('x', 'res-1')] },
    'remember',
  ],
  [
    'none of ours',
    { map: map({ project: 'now' }), held: ['res-1'], listed: [] },
    /the project of the token \(PROJECT\) has none/,
  ],
  ['none of ours, confirmed', { map: map({ project: 'now' }, 'now'), held: ['res-1'], listed: [] }, 'ours'],
  ['a silent cloud', { map: map({ project: 'now' }), held: ['res-1'], listed: undefined }, /could not be read yet/],
  ['another cloud', { map: map({ project: 'previous' }) }, /belongs to project previous/],
]
for (const [name, seen, expected] of ofToken) {
  test(`where the token decides the project, ${name}: ${String(expected)}`, () => {
    const project = { id: 'now', setting: 'PROJECT', isOfToken: true } as const
    const plan = planProject({ project, at, map: undefined, held: [], listed: undefined, cluster: 'us', ...seen })
    if (typeof expected === 'string') assert.is(plan.kind, expected)
    else assert.match(reasonOf(plan) ?? plan.kind, expected)
  })
}

const withFormerId: [name: string, seen: Partial<ProjectSeen>, expected: string | RegExp][] = [
  ['the first start', { listed: [] }, 'remember'],
  ['the project itself', { map: map({ project: 'p/now' }), held: ['res-1'], listed: [] }, 'ours'],
  [
    'another part of it',
    { map: map({ project: 'p/other' }), held: ['res-1'], listed: [of('us')] },
    /project p\/other,/,
  ],
  ['the previous id, and no address', { map: map({ project: 'p' }), listed: [] }, 'remember'],
  ['the previous id, no address, and a silent cloud', { map: map({ project: 'p' }) }, 'ours'],
  ['the previous id, and our address', { map: map({ project: 'p' }), held: ['res-1'], listed: [of('us')] }, 'remember'],
  [
    'the previous id, and none of ours',
    { map: map({ project: 'p' }), held: ['res-1'], listed: [] },
    /project p\/now \(PROJECT\) has none of them: .*confirm-project=p\/now`$/,
  ],
  ['the previous id that was swept', { map: map({ adopted: 'p' }), held: ['res-1'], listed: [] }, /has none of them/],
  ['it, confirmed by the new id', { map: map({ project: 'p' }, 'p/now'), held: ['res-1'], listed: [] }, 'remember'],
  ['it, confirmed by the previous one', { map: map({ project: 'p' }, 'p'), held: ['res-1'], listed: [] }, /has none/],
  ['a silent cloud', { map: map({ project: 'p' }), held: ['res-1'], listed: undefined }, /could not be read yet/],
  ['another project', { map: map({ project: 'q' }), held: ['res-1'], listed: [of('us')] }, /belongs to project q/],
]
for (const [name, seen, expected] of withFormerId) {
  test(`where earlier versions remembered less of the project, ${name}: ${String(expected)}`, () => {
    const project = { id: 'p/now', setting: 'PROJECT', formerId: 'p' }
    const plan = planProject({ project, at, map: undefined, held: [], listed: undefined, cluster: 'us', ...seen })
    if (typeof expected === 'string') assert.is(plan.kind, expected)
    else assert.match(reasonOf(plan) ?? plan.kind, expected)
  })
}

const former = withFormerId.map(([name, , plan]) => [`former: ${name}`, plan] as const)
const outcomes = [...cases.map(([name, , plan]) => [name, plan] as const), ...former].map(
  ([name, plan]) =>
    [name, typeof plan === 'string' ? plan : /could not/.test(String(plan)) ? 'unread' : 'other'] as const,
)
testRows('ledger/identity/project-plan.ts', outcomes, [
  'the project that the ledger remembers',
  'another one that a person confirmed',
  'another one',
  'the first start',
  'the first start, and the provider has no such project',
  'former: the previous id, and our address',
  'former: the previous id, and none of ours',
  'former: a silent cloud',
])

test.run()
