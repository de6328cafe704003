import * as assert from 'uvu/assert'
import type { Fault } from '../../../clouds/ports/cloud.ts'
import { neverAborted } from '../scripted-server.ts'
import { asn, asnOf, enable, machines, project } from './enable.ts'
import { type On, type PeeringStage, refusalOf } from './stage.ts'

/** BGP as it is refused, and as it fails. */
export function peeringFailureRules(on: On<PeeringStage>): void {
  refusing(on)
  failing(on)
}

/** Every call of the port, by the name of its route. */
const calls = {
  project: ({ peering }, _id) => peering.project(neverAborted),
  machines: ({ peering }, _id) => peering.machines(neverAborted),
  peers: ({ peering }, id) => peering.peers(id, neverAborted),
  enableOn: ({ peering }, id) => peering.enableOn(id, neverAborted),
  enable: ({ peering }, _id) => peering.enable({ asn, password: undefined }, neverAborted),
} satisfies Record<keyof PeeringStage['peering']['routes'], (cloud: PeeringStage['cloud'], id: string) => unknown>

const reads = ['project', 'machines', 'peers'] as const
const writes = ['enable', 'enableOn'] as const

/** Where no machine has to be enabled, nothing is written for one. */
const writesOf = ({ peering }: PeeringStage) => writes.filter((name) => name === 'enable' || !peering.isOfAll)

function refusing(on: On<PeeringStage>): void {
  on('a key that the provider does not know is refused for all of BGP', async (stage) => {
    const id = stage.machines.add('node-1')
    for (const call of Object.values(calls)) {
      const error = await refusalOf(stage, call(stage.withUnknownKey, id))
      assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
    }
  })

  on('a key that may only read reads BGP, and enables none', async (stage) => {
    const id = stage.machines.add('node-1')
    await enable(stage)
    for (const name of reads) await calls[name](stage.withReadOnlyKey, id)
    for (const name of writesOf(stage)) {
      const error = await refusalOf(stage, calls[name](stage.withReadOnlyKey, id))
      assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
    }
    assert.equal(await machines(stage), new Set(stage.peering.isOfAll ? [id] : []))
  })

  on('to a key that lost the project BGP is not off, nor are there no peers', async (stage) => {
    const id = stage.machines.add('node-1')
    // Where a key shows another project without a word, it shows BGP of that one.
    const refused = stage.refusesForeignKey === false ? (['peers'] as const) : reads
    for (const name of refused) await refusalOf(stage, calls[name](stage.withForeignKey, id))
  })
}

const faults: { answer: 401 | 403 | 404 | 429 | 500 | 502 | 'reset'; fault: Fault }[] = [
  { answer: 401, fault: 'auth' },
  { answer: 403, fault: 'auth' },
  { answer: 404, fault: 'invalid' },
  { answer: 429, fault: 'rate-limit' },
  { answer: 500, fault: 'unavailable' },
  { answer: 502, fault: 'unavailable' },
  { answer: 'reset', fault: 'unavailable' },
]

function failing(on: On<PeeringStage>): void {
  for (const { answer, fault } of faults)
    on(`no part of BGP is off or empty because the provider answers ${answer}`, async (stage) => {
      const id = stage.machines.add('node-1')
      for (const name of [...reads, ...writes]) {
        stage.control.faults.clear()
        stage.control.faults.add({ on: stage.peering.routes[name], answer, retryAfterSeconds: 0.01 })
        assert.is((await refusalOf(stage, calls[name](stage.cloud, id))).fault, fault)
      }
    })

  for (const answer of [500, 'reset'] as const)
    on(`BGP whose enabling lost its answer (${answer}) is on, and can be enabled again`, async (stage) => {
      const id = stage.machines.add('node-1')
      for (const name of writesOf(stage)) {
        stage.control.faults.add({ on: stage.peering.routes[name], answer, done: true, times: 1 })
        const error = await refusalOf(stage, calls[name](stage.cloud, id))
        assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
        assert.is(stage.control.calls.count(stage.peering.routes[name]), 1)
        await calls[name](stage.cloud, id)
      }
      assert.is((await project(stage))?.asn, asnOf(stage))
      assert.equal([...(await machines(stage))], [id])
    })

  on('a caller who cannot wait any longer does not know of BGP', async (stage) => {
    const id = stage.machines.add('node-1')
    stage.control.faults.add({ answer: 'hang' })
    const { peering } = stage.cloud
    const soon = () => AbortSignal.timeout(100)
    const change = () =>
      stage.peering.isOfAll ? peering.enable({ asn, password: undefined }, soon()) : peering.enableOn(id, soon())
    assert.is((await refusalOf(stage, peering.peers(id, soon()))).outcome, 'nothing')
    assert.is((await refusalOf(stage, change())).outcome, 'unknown')
  })
}
