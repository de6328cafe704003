import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { settingsReference } from '../../../docs/pages/settings.ts'
import { serveSections } from '../../../commands/settings/serve.ts'
import { titleOf } from '../../../settings/setting.ts'

const reference = settingsReference()

test('docs/reference/settings.md is up to date', () => {
  const written = readFileSync(new URL('../../../docs/reference/settings.md', import.meta.url), 'utf8')
  assert.is(written, reference)
})

test('every setting of serve is in the reference, with all its names', () => {
  const lines = reference.split('\n')
  for (const setting of serveSections.flatMap(({ table }) => Object.values(table))) {
    const title = titleOf(setting)
    const { flag, env, otherEnv = [], field, sentence } = setting
    const names = [flag, env, ...otherEnv, field, sentence].filter((name) => name !== undefined)
    const isWhole = (line: string) => names.every((name) => line.includes(name))
    assert.ok(lines.filter((line) => line.startsWith(`| ${title} |`)).some(isWhole), `${title}: ${names.join(', ')}`)
  }
})

test('the reference says why secrets have no flag', () => {
  assert.match(reference, 'Secrets have no flag, because every user of the host')
})

test.run()
