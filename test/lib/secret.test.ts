import { format, inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Secret } from '../../lib/secret.ts'

const secret = new Secret('s3cret')

test('only reveal returns a secret', () => {
  assert.is(secret.reveal(), 's3cret')
})

const printed: Record<string, () => string> = {
  String: () => String(secret),
  'a template': () => String.raw({ raw: ['', ''] }, secret),
  concatenation: () => ['', secret].join(''),
  'JSON.stringify': () => JSON.stringify({ nested: [secret] }),
  inspect: () => inspect({ nested: [secret] }, { showHidden: true, depth: null }),
  'inspect without custom hooks': () => inspect(secret, { customInspect: false, showHidden: true }),
  'format %s, %o, %j': () => format('%s %o %j', secret, secret, secret),
  'its properties': () => JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret), Object.assign({}, secret)]),
  'a structured clone': () => JSON.stringify(structuredClone(secret)),
  'an error about it': () => inspect(new Error('wrong', { cause: secret })),
}
for (const [way, print] of Object.entries(printed)) {
  test(`a secret does not show in ${way}`, () => assert.not.match(print(), 's3cret'))
}

test('a secret prints as [redacted]', () => {
  assert.is(String(secret), '[redacted]')
  assert.is(JSON.stringify({ secret }), '{"secret":"[redacted]"}')
  assert.is(inspect({ secret }), '{ secret: [redacted] }')
})

test.run()
