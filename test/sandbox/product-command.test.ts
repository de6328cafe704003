import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { commandVariable, productCommand } from '../../sandbox/product-command.ts'

/** The command in an environment with only these of the two variables. */
async function commandWith(env: Record<string, string>): Promise<string[]> {
  for (const name of [commandVariable, 'RUN_FROM']) delete process.env[name]
  Object.assign(process.env, env)
  return productCommand()
}

test('the product runs from a bundle of its sources, which is built once', async () => {
  const command = await commandWith({})
  const entry = command.at(-1) ?? ''
  assert.match(entry, /\/bundle-[0-9a-f]{16}\/eip-admission\.mjs$/)
  assert.ok(existsSync(entry))
  assert.equal(await commandWith({}), command)
})

test('with RUN_FROM=source it runs from its sources', async () => {
  assert.match((await commandWith({ RUN_FROM: 'source' })).at(-1) ?? '', /\/server\/main\.ts$/)
})

test('another RUN_FROM is an error: it would run something else than was meant', async () => {
  const error = await commandWith({ RUN_FROM: 'sources' }).catch((thrown: unknown) => thrown)
  assert.match(String(error), 'RUN_FROM=sources: it can only be source')
})

test('a process that starts many gives them the command', async () => {
  assert.equal(await commandWith({ [commandVariable]: '["node","x"]', RUN_FROM: 'source' }), ['node', 'x'])
})

test.run()
