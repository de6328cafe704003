import * as assert from 'uvu/assert'
import { isIP } from 'node:net'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { neverAborted } from '../scripted-server.ts'
import { idsOf, reserve } from './reserve.ts'
import { type On, refusalOf, type Stage } from './stage.ts'

const never = '00000000-0000-4000-8000-000000000000'

const machines = ({ cloud }: Stage) => cloud.machines(neverAborted)
const machine = ({ cloud }: Stage, id: string) => cloud.machine(id, neverAborted)

/** The reading of machines, and when one is gone. */
export function machineRules(on: On): void {
  reading(on)
  listing(on)
  proving(on)
  failing(on)
}

function reading(on: On): void {
  on('a machine is read by its id, and in the list it is the same', async (stage) => {
    const id = stage.machines.add('node-1')
    const found = await machine(stage, id)
    assert.ok(found)
    assert.equal(
      [found.id, found.name, found.state, found.region],
      [id, 'node-1', 'on', stage.region ?? stage.location],
    )
    assert.ok(found.type)
    const [listed, ...others] = await machines(stage)
    assert.ok(listed)
    assert.equal(others, [])
    assert.ok(['on', 'unknown'].includes(listed.state))
    assert.equal({ ...listed, state: found.state }, found)
  })

  on(
    'a machine has an address outside, and one inside where the provider has it, and no two texts for one',
    async (stage) => {
      const found = await machine(stage, stage.machines.add('node-1'))
      const addresses = found?.addresses ?? []
      assert.ok(addresses.some(({ address, isPublic }) => isPublic && isIP(address) === 4))
      const isPrivate = addresses.some(({ address, isPublic }) => !isPublic && isIP(address) === 4)
      assert.is(isPrivate, stage.machines.shows?.privateAddress !== false)
      assert.not.ok(addresses.some(({ isElastic }) => isElastic))
      for (const { address } of addresses)
        assert.is(new URL(`http://${bracketed(address)}`).hostname, bracketed(address))
      if (stage.machines.shows?.privateNetwork === false) assert.is(found?.privateNetwork, undefined)
      else assert.match(found?.privateNetwork ?? '', /^\d+\.\d+\.\d+\.\d+\/\d+$/)
    },
  )

  on('an address that is lent to a machine is not taken for its own', async (stage) => {
    const { address } = await reserve(stage)
    const id = stage.machines.add('node-1')
    await stage.machines.lend(id, address ?? '')
    const lent = (await machine(stage, id))?.addresses.filter(({ isElastic }) => isElastic)
    assert.equal(lent, stage.machines.shows?.lent === false ? [] : [{ address, isPublic: true, isElastic: true }])
  })

  on('a machine is off only when it is', async (stage) => {
    const id = stage.machines.add('node-1')
    const states: (Machine['state'] | undefined)[] = []
    for (const change of ['turnOff', 'turnOn', 'reinstall', 'turnOff'] as const) {
      stage.machines[change](id)
      states.push((await machine(stage, id))?.state)
    }
    assert.equal(states, ['off', 'on', 'changing', 'off'])
  })
}

function listing(on: On): void {
  on('a project without machines has an empty list', async (stage) => assert.equal(await machines(stage), []))

  on('250 machines are all listed', async (stage) => {
    const ids = Array.from({ length: 250 }, (_, n) => stage.machines.add(`node-${n}`))
    assert.equal(idsOf(await machines(stage)), ids.toSorted())
  })

  on('a cloud that gives shorter pages of machines gives them all', async (stage) => {
    const ids = Array.from({ length: 12 }, (_, n) => stage.machines.add(`node-${n}`))
    stage.control.faults.add({ on: stage.routes.machines, answer: 'short-pages', perPage: 5 })
    assert.equal(idsOf(await machines(stage)), ids.toSorted())
  })

  on('pages of machines that do not fit together are never taken for the whole', async (stage) => {
    const ids = Array.from({ length: 120 }, (_, n) => stage.machines.add(`node-${n}`))
    stage.control.faults.add({ on: stage.routes.machines, answer: 'shuffled-list' })
    const listed = await machines(stage).then(idsOf, ({ fault }: { fault: string }) => fault)
    assert.equal(listed, Array.isArray(listed) ? ids.toSorted() : 'unavailable')
  })
}

function proving(on: On): void {
  on('a machine that was removed no longer exists, and so is one that never was', async (stage) => {
    const kept = stage.machines.add('node-1')
    const id = stage.machines.add('node-2')
    stage.machines.remove(id)
    assert.is(await machine(stage, id), undefined)
    assert.is(await machine(stage, never), undefined)
    assert.equal(idsOf(await machines(stage)), [kept])
  })

  on('the last machine of a project can be gone as well', async (stage) => {
    const id = stage.machines.add('node-1')
    stage.machines.remove(id)
    if (stage.refusesForeignKey === false) return void (await refusalOf(stage, machine(stage, id)))
    assert.is(await machine(stage, id), undefined)
  })

  on('to a key that lost the project no machine no longer exists', async (stage) => {
    const there = stage.machines.add('node-1')
    for (const id of [there, never]) await refusalOf(stage, stage.withForeignKey.machine(id, neverAborted))
    if (stage.refusesForeignKey === false) assert.equal(await stage.withForeignKey.machines(neverAborted), [])
    else await refusalOf(stage, stage.withForeignKey.machines(neverAborted))
  })

  on('to a key that the provider does not know no machine no longer exists', async (stage) => {
    const there = stage.machines.add('node-1')
    const { withUnknownKey: cloud } = stage
    const calls = [there, never].map((id) => () => cloud.machine(id, neverAborted))
    for (const call of [...calls, () => cloud.machines(neverAborted)]) {
      const error = await refusalOf(stage, call())
      assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
      assert.match(error.message, 'check that the API key')
    }
  })

  on('a key that may only read can read machines', async (stage) => {
    const id = stage.machines.add('node-1')
    assert.equal(idsOf(await stage.withReadOnlyKey.machines(neverAborted)), [id])
    assert.is((await stage.withReadOnlyKey.machine(id, neverAborted))?.id, id)
    assert.is(await stage.withReadOnlyKey.machine(never, neverAborted), undefined)
  })
}

function failing(on: On): void {
  for (const answer of [401, 429, 500, 502, 'reset'] as const)
    on(`nothing can be said of machines while the provider answers ${answer}`, async (stage) => {
      const id = stage.machines.add('node-1')
      for (const route of [stage.routes.machine, stage.routes.machines])
        stage.control.faults.add({ on: route, answer, retryAfterSeconds: 0.01 })
      const fault = answer === 401 ? 'auth' : answer === 429 ? 'rate-limit' : 'unavailable'
      const reads = [() => machines(stage), () => machine(stage, id), () => machine(stage, never)]
      for (const read of reads) assert.is((await refusalOf(stage, read())).fault, fault)
    })

  for (const answer of [429, 500, 503, 'reset'] as const)
    on(`reading machines outlives two times ${answer}`, async (stage) => {
      const id = stage.machines.add('node-1')
      const fault = { answer, times: 2, retryAfterSeconds: 0.01 }
      for (const route of [stage.routes.machine, stage.routes.machines])
        stage.control.faults.add({ on: route, ...fault })
      assert.is((await machine(stage, id))?.id, id)
      assert.equal(idsOf(await machines(stage)), [id])
    })

  on('reading machines follows a redirect on the host of the provider, and none to another', async (stage) => {
    const id = stage.machines.add('node-1')
    const { machines: route } = stage.routes
    stage.control.faults.add({ on: route, answer: 'redirect', times: 1 })
    assert.equal(idsOf(await machines(stage)), [id])
    stage.control.faults.add({ on: route, answer: 'redirect', location: 'https://nowhere.invalid/' })
    assert.match((await refusalOf(stage, machines(stage))).message, 'to the same host')
  })

  on('a caller who cannot wait any longer knows nothing of machines', async (stage) => {
    const id = stage.machines.add('node-1')
    for (const route of [stage.routes.machine, stage.routes.machines])
      stage.control.faults.add({ on: route, answer: 'hang' })
    const { cloud } = stage
    for (const read of [(soon: AbortSignal) => cloud.machine(id, soon), (soon: AbortSignal) => cloud.machines(soon)])
      assert.is((await refusalOf(stage, read(AbortSignal.timeout(100)))).fault, 'unavailable')
  })

  for (const answer of [403, 404] as const)
    on(`an empty ${answer} does not come from the provider: the machine may exist`, async (stage) => {
      const id = stage.machines.add('node-1')
      stage.machines.add('node-2')
      stage.control.faults.add({ on: stage.routes.machine, answer, empty: true })
      assert.is((await refusalOf(stage, machine(stage, id))).fault, 'unavailable')
    })

  on('an answer about another machine says nothing of this one', async (stage) => {
    const [id, other] = [stage.machines.add('node-1'), stage.machines.add('node-2')]
    const otherId = Number.isNaN(Number(other)) ? other : Number(other)
    stage.control.faults.add({ on: stage.routes.machine, answer: 'other-id', otherId })
    const error = await refusalOf(stage, machine(stage, id))
    assert.is(error.fault, 'unavailable')
    assert.match(error.message, `another object than ${id}`)
  })

  on('a machine that answers 404 is not gone while the list of machines fails', async (stage) => {
    for (const answer of [401, 403, 404, 500, 'reset'] as const) {
      stage.control.faults.clear()
      stage.control.faults.add({ on: stage.routes.machines, answer })
      await refusalOf(stage, machine(stage, never))
    }
  })
}

function bracketed(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address
}
