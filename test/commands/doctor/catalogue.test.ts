// Whatever is written as a check is run: its own test calls it directly and would not notice that `doctor` does not.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { softwares } from '../../../announcers/announcers.ts'
import { catalogue } from '../../../commands/doctor/catalogue.ts'

const root = join(import.meta.dirname, '../../..')

/** Every check that files define, by what makes it one. */
async function exportedChecks(pattern: string, method: 'run' | 'judge'): Promise<unknown[]> {
  const files = globSync(pattern, { cwd: root })
  const modules = await Promise.all(files.map((file) => import(join(root, file)) as Promise<Record<string, unknown>>))
  const exported = modules.flatMap((one) => Object.values(one))
  return exported.filter((one) => typeof one === 'object' && one !== null && 'id' in one && method in one)
}

const idsOf = (checks: Iterable<unknown>) => [...checks].map((one) => Reflect.get(Object(one), 'id') as string)

test('every check of doctor is in its catalogue', async () => {
  const defined = await exportedChecks('commands/doctor/checks/*.ts', 'run')
  assert.ok(defined.length > 30, `${defined.length} checks`)
  assert.equal(idsOf(new Set(defined).difference(new Set<unknown>(catalogue))), [])
})

test('every check of an announcing software is in that software', async () => {
  const defined = await exportedChecks('announcers/*/{checks,checks/*}.ts', 'judge')
  assert.ok(defined.length > 5, `${defined.length} checks`)
  assert.equal(idsOf(new Set(defined).difference(new Set<unknown>(softwares.flatMap(({ checks = [] }) => checks)))), [])
})

test('a test calls each check, or names its id', () => {
  const textsOf = (pattern: string) =>
    globSync(pattern, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const checks = ['commands/doctor/checks/*.ts', 'announcers/*/{checks,checks/*}.ts'].flatMap(textsOf).join('\n')
  const defined = [...checks.matchAll(/^export const (\w+)[^\n]*\{\n  id: '([^']+)'/gm)]
  assert.ok(defined.length > 35, `${defined.length} checks`)
  const tests = textsOf('test/**/*.test.ts').join('\n')
  const untested = defined.filter(([, name, id]) => !new RegExp(`\\b(${name}|${id})\\b`).test(tests))
  assert.equal(
    untested.map(([, name]) => name),
    [],
  )
})

test('no two checks have one id', () => {
  const ids = idsOf(catalogue)
  assert.is(new Set(ids).size, ids.length)
})

test.run()
