import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { LabelRequirement } from '../../lib/label-selector.ts'
import { parseLabelSelector } from '../../settings/label-selector.ts'

const selectors: [text: string, requirements: LabelRequirement[] | undefined][] = [
  ['role=edge', [{ key: 'role', operator: 'In', values: ['edge'] }]],
  ['role == edge', [{ key: 'role', operator: 'In', values: ['edge'] }]],
  ['role!=edge', [{ key: 'role', operator: 'NotIn', values: ['edge'] }]],
  ['role=', [{ key: 'role', operator: 'In', values: [''] }]],
  ['node-role.kubernetes.io/worker', [{ key: 'node-role.kubernetes.io/worker', operator: 'Exists', values: [] }]],
  ['!spare', [{ key: 'spare', operator: 'DoesNotExist', values: [] }]],
  ['zone in (a, b)', [{ key: 'zone', operator: 'In', values: ['a', 'b'] }]],
  ['zone notin (a,b)', [{ key: 'zone', operator: 'NotIn', values: ['a', 'b'] }]],
  ['cores>8', [{ key: 'cores', operator: 'Gt', values: ['8'] }]],
  ['cores < 8', [{ key: 'cores', operator: 'Lt', values: ['8'] }]],
  [
    'role=edge, zone in (a,b),!spare',
    [
      { key: 'role', operator: 'In', values: ['edge'] },
      { key: 'zone', operator: 'In', values: ['a', 'b'] },
      { key: 'spare', operator: 'DoesNotExist', values: [] },
    ],
  ],
  ['', undefined],
  ['a=b,', undefined],
  ['a=b=c', undefined],
  ['a in b', undefined],
  ['a in (b', undefined],
  ['cores>many', undefined],
  ['a b', undefined],
  ['-a=b', undefined],
  ['a/b/c=d', undefined],
  [`a=${'x'.repeat(64)}`, undefined],
]
for (const [text, requirements] of selectors) {
  test(`${JSON.stringify(text)} is ${requirements ? 'read' : 'no label selector'}`, () =>
    assert.equal(parseLabelSelector(text), requirements))
}

test.run()
