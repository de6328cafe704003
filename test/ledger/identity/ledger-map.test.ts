import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { haltMemory, ledgerMap } from '../../../ledger/identity/ledger-map.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { neverAborted as signal } from '../harness.ts'

/** A stored map with one entry, and what happens around its calls. */
async function makeMap() {
  const hooks: Hooks = {}
  const at = { namespace: 'eip', name: 'ledger' }
  const halt = haltMemory({ cluster: 'cluster-1', at })
  const map = ledgerMap({ client: interposed(apiServer().client, hooks), ...at, halt, monotonicMs: () => 0 })
  const stored = await map.change(undefined, { orphans: 'old' }, signal)
  return { map, hooks, stored, recent: async () => (await map.recent(signal))?.data?.['orphans'] }
}

test('a read that a change overtook is not the recent map', async () => {
  const { map, hooks, stored, recent } = await makeMap()
  const answer = Promise.withResolvers<void>()
  hooks.after = ({ verb }) => (verb === 'get' ? answer.promise : undefined)
  const before = recent()
  await sleep(5)
  hooks.after = undefined
  await map.change(stored, { orphans: 'new' }, signal)
  assert.is(await recent(), 'new', 'it does not share a read that began before the change')
  answer.resolve()
  assert.is(await before, 'old')
  assert.is(await recent(), 'new')
})

test('a read during a change is not the recent map afterwards', async () => {
  const { map, hooks, stored, recent } = await makeMap()
  hooks.before = async ({ verb }) => void (verb === 'replace' && (await recent()))
  await map.change(stored, { orphans: 'new' }, signal)
  assert.is(await recent(), 'new')
})

test.run()
