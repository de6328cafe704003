// The pages become a site, and the spell checker knows each of their words.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = join(import.meta.dirname, '..', '..')

test('make site finds no unknown word and no dead link, and writes the pages', async () => {
  await promisify(execFile)('make', ['site'], { cwd: root })
  assert.ok(existsSync(join(root, 'dist', 'site', 'index.html')))
})

test.run()
