import * as assert from 'uvu/assert'
import { neverAborted } from '../scripted-server.ts'
import { list, marks, reserve } from './reserve.ts'
import type { GrantStage, On } from './stage.ts'

/** Addresses that are asked for, and granted or denied later. */
export function grantRules(on: On<GrantStage>): void {
  on('an address that is granted late is requested first, and reserved in the end', async (stage) => {
    stage.grants.late()
    const { id, state, address } = await reserve(stage)
    assert.equal([state, address], ['requested', undefined])
    assert.equal((await list(stage, marks))[0]?.state, 'requested')
    stage.grants.grant(id)
    const granted = await stage.cloud.reservation(id, neverAborted)
    assert.is(granted?.state, 'reserved')
    assert.ok(granted?.address)
  })

  on('an address that is never granted is denied, and can be given back', async (stage) => {
    stage.grants.late()
    const { id } = await reserve(stage)
    stage.grants.deny(id)
    const denied = await stage.cloud.reservation(id, neverAborted)
    assert.equal([denied?.state, denied?.address], ['denied', undefined])
    await stage.cloud.release({ id, marks: {} }, neverAborted)
    assert.equal(await list(stage), [])
  })
}
