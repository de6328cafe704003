import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { configMaps } from '../../../kube/resource.ts'
import { adoptionMark } from '../../../ledger/identity/adoption-mark.ts'
import { haltMemory, ledgerMap } from '../../../ledger/identity/ledger-map.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { neverAborted as signal } from '../harness.ts'

/** The mark of a leader, and what it does at the API server. */
function makeMark() {
  const api = apiServer()
  const writes: string[] = []
  const hooks: Hooks = { after: ({ verb }) => void (verb !== 'get' && writes.push(verb)) }
  const at = { namespace: 'eip', name: 'ledger' }
  const halt = haltMemory({ cluster: 'cluster-1', at })
  const map = ledgerMap({ client: interposed(api.client, hooks), ...at, halt, monotonicMs: () => 0 })
  const leader = () => Promise.resolve({ identity: 'one', since: '1' })
  const mark = adoptionMark({ map, project: 'project-1', identity: 'one', leader, monotonicMs: () => 0 })
  return { mark, writes, hooks, stored: () => api.stored(configMaps)[0]?.data }
}

test('removing the mark is one write, and none if it is not set', async () => {
  const { mark, writes, stored } = makeMark()
  await mark.clear(signal)
  assert.equal(writes, [])
  await mark.begin()(signal)
  assert.is(await mark.isSet(signal), true)
  for (let n = 0; n < 3; n += 1) await mark.clear(signal)
  assert.equal([writes, await mark.isSet(signal)], [['create', 'replace'], false])
  // The ledger remembers its project by the other entry.
  assert.equal(stored(), { adopted: 'project-1' })
})

test('a sweep that began before the mark was removed does not set it', async () => {
  const { mark, writes } = makeMark()
  const set = mark.begin()
  await mark.clear(signal)
  await set(signal)
  assert.equal([writes, await mark.isSet(signal)], [[], false])
  await mark.begin()(signal)
  assert.is(await mark.isSet(signal), true)
})

test('a mark that is removed while it is being set does not stay', async () => {
  const { mark, hooks, stored } = makeMark()
  hooks.before = async ({ verb }) => {
    if (verb !== 'create') return
    // It reads the map before the write arrives.
    await mark.clear(signal)
  }
  await mark.begin()(signal)
  assert.equal(stored(), { adopted: 'project-1' })
})

test('an answer from before the removal of the mark is not reused after it', async () => {
  const { mark, hooks } = makeMark()
  await mark.begin()(signal)
  const answer = Promise.withResolvers<void>()
  hooks.after = ({ verb }) => (verb === 'get' ? answer.promise : undefined)
  const asked = mark.isSet(signal)
  await sleep(5)
  hooks.after = undefined
  await mark.clear(signal)
  answer.resolve()
  await asked
  assert.is(await mark.isSet(signal), false)
})

test('while the mark is removed it counts as removed, and no answer from that time is reused', async () => {
  const { mark, hooks } = makeMark()
  await mark.begin()(signal)
  const answers: boolean[] = []
  hooks.before = async ({ verb }) => void (verb === 'replace' && answers.push(await mark.isSet(signal)))
  await mark.clear(signal)
  assert.equal([...answers, await mark.isSet(signal)], [false, false])
})

test.run()
