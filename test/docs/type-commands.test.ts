import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { typeCommands } from './type-commands.ts'

const here = { dir: import.meta.dirname, env: process.env, patienceMs: 60_000 }

test('the first command that fails is the last one, also in a pipe', async () => {
  const { code, printed } = await typeCommands({ ...here, commands: 'echo one >&2\nfalse | cat\necho two' })
  assert.equal({ code, printed }, { code: 1, printed: 'one\n' })
})

test('commands that hang end with all that they started', async () => {
  const commands = 'echo begun\n(exec sleep 1000) | cat'
  const result = await typeCommands({ ...here, patienceMs: 5000, commands }).catch(String)
  assert.is(result, `Error: did not end within 5 s\n${commands}\nbegun\n`)
})

test.run()
