import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { asn, boolean, list, namespace, password, text, token, url } from '../../settings/formats.ts'
import { SettingsError } from '../../settings/problems.ts'
import { resolveSettings } from '../../settings/resolve.ts'
import type { Sources } from '../../settings/resolve.ts'
import type { Secret } from '../../lib/secret.ts'
import type { SettingsTable } from '../../settings/setting.ts'

const sentence = 'A setting.'
const table = {
  key: { title: 'API key', env: 'KEY', field: 'apiKey', format: token, required: true, sentence },
  pass: { title: 'password', env: 'PASS', field: 'pass', format: password, unset: 'none', sentence },
  project: {
    title: 'project',
    flag: '--project',
    env: 'PROJECT',
    field: 'projectID',
    format: text('id'),
    required: true,
    sentence,
  },
  asn: { title: 'ASN', flag: '--asn', env: 'ASN', field: 'localASN', format: asn, default: '65000', sentence },
  metro: {
    title: 'metro',
    flag: '--metro',
    aliases: ['--old-metro'],
    field: 'metro',
    format: text('code'),
    unset: 'off',
    sentence,
  },
  isOn: { title: 'on', flag: '--on', field: 'on', format: boolean, default: 'false', sentence },
  names: { title: 'names', flag: '--names', format: list(namespace), default: '', sentence },
  api: {
    title: 'API',
    flag: '--api',
    field: 'api',
    format: url('loopback'),
    default: 'https://a.example.com',
    sentence,
  },
} as const satisfies SettingsTable

const enough = { KEY: 'hidden-key', PROJECT: 'p' }

function resolve({ flags = {}, env = enough, fields }: Partial<Sources> & { fields?: Record<string, unknown> }) {
  const file = fields && { path: '/etc/c.json', fields, problems: [] }
  return resolveSettings(table, { flags, env, file })
}

function refusal(given: Parameters<typeof resolve>[0]): SettingsError {
  try {
    resolve(given)
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  throw new Error('the settings were taken')
}

test('values have the types of their formats', () => {
  const { values, warnings } = resolve({})
  // The annotations fail to compile where the inference does not hold.
  const key: Secret = values.key
  const pass: Secret | undefined = values.pass
  const number: number = values.asn
  const metro: string | undefined = values.metro
  const isOn: boolean = values.isOn
  const names: string[] = values.names
  assert.equal(
    [key.reveal(), pass, number, metro, isOn, names],
    ['hidden-key', undefined, 65_000, undefined, false, []],
  )
  assert.equal(warnings, [])
})

test('the error lists every problem, each with its setting, source, value and what is right', () => {
  const { message, problems } = refusal({
    flags: { '--asn': 'many', '--names': 'ok,Not-ok' },
    env: { PROJECT: '' },
    fields: { on: 'yes', metro: { code: 'da' }, api: 'http://user:hidden@example.com' },
  })
  assert.is(
    message,
    [
      'eip-admission: 7 settings are wrong:',
      '  - API key: not set; set KEY or the field apiKey of the configuration file',
      '  - project: not set; set --project, PROJECT or the field projectID of the configuration file',
      '  - ASN: --asn is "many"; it must be a whole number from 1 to 4294967295',
      '  - metro: the field metro of /etc/c.json is an object; it must be a string, a number, true or false',
      '  - on: the field on of /etc/c.json is "yes"; it must be true or false',
      '  - names: --names is "ok,Not-ok"; it must be a list separated by commas, each item the name of a namespace: lower-case letters, digits and -',
      '  - API: the field api of /etc/c.json is "http://[redacted]@example.com"; it must be an https:// URL without credentials, query or fragment (http:// only to a loopback address such as 127.0.0.1)',
    ].join('\n'),
  )
  assert.is(problems.length, 7)
})

test('the error about one problem says 1 setting', () => {
  assert.match(refusal({ flags: { '--asn': 'many' } }).message, /^eip-admission: 1 setting is wrong:\n {2}- ASN: /)
})

test('a wrong value is refused although a weaker source has a right one', () => {
  assert.match(refusal({ flags: { '--asn': 'many' }, env: { ...enough, ASN: '1' } }).message, '--asn is "many"')
})

test('a secret is never printed, whether right or wrong, from whichever source', () => {
  const { values, warnings } = resolve({ env: { ...enough, PASS: 'hidden pass' } })
  assert.not.match(inspect({ values, warnings }, { depth: null, showHidden: true }) + JSON.stringify(values), 'hidden')
  const wrong = [
    refusal({ env: { ...enough, KEY: 'hidden key' } }),
    refusal({ env: { PROJECT: 'p' }, fields: { apiKey: 'hidden key' } }),
    refusal({ env: { PROJECT: 'p' }, fields: { apiKey: ['hidden'] } }),
    refusal({ env: { PROJECT: 'p' }, fields: { apiKey: { token: 'hidden' } } }),
  ]
  for (const error of wrong) {
    assert.match(error.message, 'API key: ')
    assert.not.match(inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error), 'hidden')
  }
})

test('a long value is cut in the message', () => {
  assert.ok(refusal({ flags: { '--asn': 'x'.repeat(10_000) } }).message.length < 400)
})

test('an unknown field causes a warning with the most similar field', () => {
  const { warnings } = resolve({ fields: { metor: 'da', projectId: 'p', somethingElse: 'hidden' } })
  assert.equal(warnings, [
    'the field "metor" of /etc/c.json is ignored, because there is no such setting; did you mean metro?',
    'the field "somethingElse" of /etc/c.json is ignored, because there is no such setting',
  ])
})

test('of two spellings of one field the last one counts', () => {
  const { values } = resolve({ env: { KEY: 'k' }, fields: { projectId: 'first', projectID: 'last' } })
  assert.is(values.project, 'last')
})

test('an old name of a flag is accepted, and the new name takes precedence', () => {
  assert.is(resolve({ flags: { '--old-metro': 'da' } }).values.metro, 'da')
  const { values, warnings } = resolve({ flags: { '--old-metro': 'da', '--metro': 'ny' } })
  assert.is(values.metro, 'ny')
  assert.equal(warnings, ['--old-metro is ignored, because --metro is set too'])
})

test('the error lists the problems of the file together with those of the settings', () => {
  const problem = { setting: 'configuration file', source: '/etc/c.json', wrong: 'does not exist', right: 'it must' }
  const file = { path: '/etc/c.json', fields: {}, problems: [problem] }
  assert.throws(
    () => resolveSettings(table, { flags: { '--on': 'perhaps' }, env: enough, file }),
    /2 settings.*\n.*\/etc\/c\.json does not exist.*\n.*--on is "perhaps"/,
  )
})

test.run()
