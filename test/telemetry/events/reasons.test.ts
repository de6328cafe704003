import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { catalogue } from '../../../telemetry/events/catalogue.ts'

const folder = join(import.meta.dirname, '..', '..')

test('a test names the reason of each Event', () => {
  const texts = globSync('**/*.test.ts', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'))
  assert.ok(texts.length > 100, 'it finds the tests')
  const unnamed = Object.keys(catalogue).filter(
    (reason) => !texts.some((text) => new RegExp(`\\b${reason}\\b`).test(text)),
  )
  assert.equal(unnamed, [])
})

test.run()
