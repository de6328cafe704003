// What a program reads from takeover apply where there is nothing to carry out.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { applyWith } from '../../../commands/takeover/commands.ts'
import { NoPlan, NothingToPlan } from '../../../commands/takeover/plan/no-plan.ts'

const finding = { reason: 'no-predecessor', where: 'the cluster', what: 'none runs', remedy: 'install it' }

/** Nobody listens there. */
const credentials = { server: 'https://127.0.0.1:1', headers: async () => ({}), ca: undefined } as never

async function printed(failure: Error): Promise<{ code: number; document: unknown }> {
  let text = ''
  const plans = {
    async makePlan() {
      throw failure
    },
    async install() {},
  }
  const print = (part: string) => void (text += part)
  const deps = { env: {}, version: 'test', signal: new AbortController().signal, print, printError: print }
  const code = await applyWith(plans, { output: 'json', patienceMs: 1, credentials }, deps)
  return { code, document: JSON.parse(text) }
}

test('takeover apply -o json prints one document also where there is no plan', async () => {
  assert.equal(await printed(new NoPlan('no predecessor was found', [finding])), {
    code: 1,
    document: { formatVersion: 1, blockers: [finding] },
  })
})

test('takeover apply -o json prints one document also where nothing is left to plan', async () => {
  assert.equal(await printed(new NothingToPlan('The takeover is complete.')), {
    code: 0,
    document: { formatVersion: 1, blockers: [], message: 'The takeover is complete.' },
  })
})

test.run()
