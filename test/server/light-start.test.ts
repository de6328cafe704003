import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = join(import.meta.dirname, '..', '..')

/** The built-in modules of Node that a process has loaded after it imported our file. */
async function builtInsOf(file: string): Promise<string[]> {
  const script = `await import(${JSON.stringify(join(root, file))}); console.log(process.moduleLoadList.join('\\n'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return stdout.split('\n')
}

test('what a pod loads does not include undici, which takes 15 MiB', async () => {
  const loaded = await builtInsOf('server/serve.ts')
  assert.ok(loaded.includes('NativeModule https'))
  assert.equal(
    loaded.filter((name) => name.includes('undici')),
    [],
    'who imports node:http, or uses fetch, Headers, Response or WebSocket?',
  )
})

test('the check finds an import of node:http', async () => {
  const loaded = await builtInsOf('test/clouds/scripted-server.ts')
  assert.ok(loaded.some((name) => name.includes('undici')))
})

test.run()
