import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type LabelRequirement,
  type LabelSelector,
  matchesRequirements,
  matchesSelector,
} from '../../lib/label-selector.ts'
import { parseLabelSelector } from '../../settings/label-selector.ts'

const worker = { role: 'worker', zone: 'a', cores: '16', empty: '' }

const cases: [selector: string, isMatch: boolean][] = [
  ['role=worker', true],
  ['role=edge', false],
  ['absent=worker', false],
  ['empty=', true],
  ['absent=', false],
  ['role!=edge', true],
  ['role!=worker', false],
  ['absent!=worker', true],
  ['zone in (a,b)', true],
  ['zone in (b,c)', false],
  ['zone notin (b,c)', true],
  ['zone notin (a,b)', false],
  ['absent notin (a,b)', true],
  ['role', true],
  ['empty', true],
  ['absent', false],
  ['!absent', true],
  ['!role', false],
  ['!empty', false],
  ['cores>8', true],
  ['cores>16', false],
  ['cores<17', true],
  ['cores<16', false],
  ['cores>-1', true],
  ['role>1', false],
  ['role<1', false],
  ['empty<1', false],
  ['absent<1', false],
  ['role=worker,zone=a', true],
  ['role=worker,zone=b', false],
  ['toString', false],
  ['!constructor', true],
]
for (const [selector, isMatch] of cases) {
  test(`${selector} is ${isMatch ? 'met' : 'not met'} by ${JSON.stringify(worker)}`, () =>
    assert.is(matchesRequirements(worker, parsed(selector)), isMatch))
}

test('numbers are compared to the last of their 64 bits, and are none beyond', () => {
  const most: LabelRequirement[] = [{ key: 'n', operator: 'Gt', values: ['9223372036854775806'] }]
  assert.ok(matchesRequirements({ n: '9223372036854775807' }, most))
  assert.not.ok(matchesRequirements({ n: '9223372036854775806' }, most))
  assert.not.ok(matchesRequirements({ n: '9223372036854775808' }, most))
  assert.not.ok(matchesRequirements({ n: '1.5' }, [{ key: 'n', operator: 'Gt', values: ['1'] }]))
})

test('no requirements are met by every node, one without labels too', () => {
  assert.ok(matchesRequirements(worker, []))
  assert.ok(matchesRequirements(undefined, []))
  assert.ok(matchesRequirements(undefined, parsed('!role,role!=edge')))
})

function parsed(selector: string): LabelRequirement[] {
  const requirements = parseLabelSelector(selector)
  if (!requirements) throw new Error(`${selector} is no selector`)
  return requirements
}

const labels = { tier: 'gold', zone: 'a', size: '2' }
const selectors: [selector: LabelSelector, isMatch: boolean][] = [
  [{}, true],
  [{ matchLabels: { tier: 'gold' } }, true],
  [{ matchLabels: { tier: 'gold', zone: 'b' } }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, false],
  [{ matchExpressions: [{ key: 'rack', operator: 'NotIn', values: ['a'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'rack', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'rack', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'Near' }] }, false],
  [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['1'] }] }, false],
]
for (const [selector, isMatch] of selectors) {
  test(`${JSON.stringify(selector)} ${isMatch ? 'matches' : 'does not match'}`, () =>
    assert.is(matchesSelector(labels, selector), isMatch))
}

test.run()
