import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import type { Peer } from '../../../clouds/ports/peering.ts'
import { neverAborted } from '../scripted-server.ts'
import { asn, enable, enableOn, peers, project } from './enable.ts'
import { type On, type PasswordStage, refusalOf } from './stage.ts'

/** The password of BGP, which a project gets when BGP is enabled and keeps for good. */
export function passwordRules(on: On<PasswordStage>): void {
  on('a project has the password that BGP was enabled with, and shows it to nobody automatically', async (stage) => {
    await enable(stage, stage.password)
    assert.equal(await project(stage), { asn, password: stage.password })
    const shown = await stage.cloud.peering.project(neverAborted)
    assert.not.match(JSON.stringify(shown) + inspect(shown), stage.password)
  })

  on('an empty password is none', async (stage) => {
    await enable(stage, '')
    const found = await project(stage)
    assert.is(found?.asn, asn)
    assert.is(Boolean(found?.password), stage.peering.makesPassword === true)
  })

  on('BGP that is on keeps its password', async (stage) => {
    await enable(stage, stage.password)
    await stage.cloud.peering.enable({ asn: asn + 1, password: undefined }, neverAborted)
    assert.equal(await project(stage), { asn, password: stage.password })
  })

  on('a password that the provider does not take is refused, and the error does not show it', async (stage) => {
    const error = await refusalOf({ keys: [...stage.keys, 'no-good'] }, enable(stage, 'no-good'))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.is(await project(stage), undefined)
  })

  on('the peers of a machine know the password of its project', async (stage) => {
    const id = stage.machines.add('node-1')
    await enable(stage, stage.password)
    await enableOn(stage, id)
    const found: Peer[] = await peers(stage, id)
    assert.ok(found.length > 0)
    for (const peer of found) assert.is(peer.password?.reveal(), stage.password)
    assert.not.match(JSON.stringify(found), stage.password)
  })
}
