import * as assert from 'uvu/assert'
import { neverAborted } from '../scripted-server.ts'
import { asn, asnOf, enable, enableOn, machines, peers, project } from './enable.ts'
import { type On, type PeeringStage, refusalOf } from './stage.ts'

/** BGP of a project, of its machines, and with whom they speak. */
export function peeringRules(on: On<PeeringStage>): void {
  ofProjects(on)
  ofMachines(on)
  ofPeers(on)
}

function ofProjects(on: On<PeeringStage>): void {
  on('BGP is off until it is enabled', async (stage) => {
    assert.is(await project(stage), undefined)
    await enable(stage)
    assert.ok(await project(stage))
  })

  on('a project has a number of its own once a machine speaks BGP, and no password automatically', async (stage) => {
    await enable(stage)
    await enableOn(stage, stage.machines.add('node-1'))
    assertOwn(stage, await project(stage))
  })

  on('BGP that is on is enabled again without harm, and keeps what it has', async (stage) => {
    await enable(stage)
    await enableOn(stage, stage.machines.add('node-1'))
    const before = await project(stage)
    await stage.cloud.peering.enable({ asn: asn + 1, password: undefined }, neverAborted)
    assert.equal(await project(stage), before)
    assertOwn(stage, before)
  })
}

function ofMachines(on: On<PeeringStage>): void {
  on('BGP is on for the machines that it was enabled on', async (stage) => {
    const [one = '', two = '', three = ''] = ['node-1', 'node-2', 'node-3'].map((name) => stage.machines.add(name))
    const { isOfAll } = stage.peering
    assert.equal(await machines(stage), new Set())
    await enable(stage)
    assert.equal(await machines(stage), new Set(isOfAll ? [one, two, three] : []))
    await enableOn(stage, one)
    await enableOn(stage, three)
    const on = isOfAll ? [one, two, three] : [one, three]
    assert.equal([...(await machines(stage))].toSorted(), on.toSorted())
  })

  on(
    'all machines with BGP are known by one call, one more for the project, or one for each machine',
    async (stage) => {
      await enable(stage)
      const ids = Array.from({ length: 40 }, (_, n) => stage.machines.add(`node-${n}`))
      await Promise.all(ids.map((id) => enableOn(stage, id)))
      stage.control.calls.clear()
      assert.equal([...(await machines(stage))].toSorted(), ids.toSorted())
      const { isOfAll, readsEach } = stage.peering
      assert.is(stage.control.calls.count(), 1 + (isOfAll ? 1 : 0) + (readsEach ? ids.length : 0))
    },
  )

  on('BGP that is on for a machine is enabled again without harm', async (stage) => {
    const id = stage.machines.add('node-1')
    await enable(stage)
    await enableOn(stage, id)
    await enableOn(stage, id)
    assert.equal([...(await machines(stage))], [id])
  })

  on('a machine that no longer exists has BGP no more', async (stage) => {
    const id = stage.machines.add('node-1')
    await enable(stage)
    await enableOn(stage, id)
    stage.machines.remove(id)
    assert.equal(await machines(stage), new Set())
    assert.is((await refusalOf(stage, peers(stage, id))).fault, 'invalid')
    assert.is((await refusalOf(stage, enableOn(stage, id))).fault, 'invalid')
  })

  on('BGP is not enabled on a machine before its project', async (stage) => {
    const error = await refusalOf(stage, enableOn(stage, stage.machines.add('node-1')))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, 'on project')
    assert.equal(await machines(stage), new Set())
  })
}

function ofPeers(on: On<PeeringStage>): void {
  on('a machine has no peers before its BGP is enabled', async (stage) => {
    const id = stage.machines.add('node-1')
    assert.equal(await peers(stage, id), [])
    await enable(stage)
    if (!stage.peering.isOfAll) assert.equal(await peers(stage, id), [])
  })

  on('a machine speaks with each of its peers from the address that they expect', async (stage) => {
    const id = stage.machines.add('node-1')
    await enable(stage)
    await enableOn(stage, id)
    const own = (await stage.cloud.machine(id, neverAborted))?.addresses.map(({ address }) => address) ?? []
    const found = await peers(stage, id)
    assert.ok(found.length > 0)
    assert.is(new Set(found.map(({ peerAddress }) => peerAddress)).size, found.length)
    for (const { localAsn, peerAsn, sourceAddress, password } of found) {
      assert.equal([localAsn, peerAsn], [asnOf(stage), stage.peering.peerAsn])
      assert.is(password !== undefined, stage.peering.makesPassword === true)
      assert.ok(own.includes(sourceAddress))
    }
  })
}

/** Its number, and the password that it has by itself. */
function assertOwn(stage: PeeringStage, found: Awaited<ReturnType<typeof project>>): void {
  assert.is(found?.asn, asnOf(stage))
  assert.is(Boolean(found?.password), stage.peering.makesPassword === true)
}
