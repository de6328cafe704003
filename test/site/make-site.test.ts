// The pages become a site.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = join(import.meta.dirname, '..', '..')

/** The exit code and all that it prints. */
function make(target: string): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('make', [target], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, text }))
  })
}

test('make site finds no dead link, and writes the pages', async () => {
  const { code, text } = await make('site')
  assert.is(code, 0, text)
  assert.ok(existsSync(join(root, 'dist', 'site', 'index.html')))
})

test.run()
