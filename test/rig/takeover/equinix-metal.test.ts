// `takeover plan`, `apply` and `undo` on a cluster that Equinix Metal's program runs: their promises, while routers
// record the routes.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BGPPeer, bgpPeers } from '../../../announcers/metallb/resources.ts'
import { listAll } from '../../../kube/list-all.ts'
import { programs } from '../../predecessors/programs.ts'
import { eventually } from '../../whole/eventually.ts'
import { byCommands, walkByCommands } from './by-commands.ts'
import { isAnnounced, namespace, onScene, titleOf } from './scene.ts'
import { backAgain } from './walk.ts'

const program = programs['CPEM 3.8']
const title = titleOf(program)

test(`${title}: takeover and undo, twice: nothing is bought, dropped or without a way`, () =>
  walkByCommands(program, { rounds: 2 }))

test(`${title}: after undo it finds its own peers as they were, and those of a node that came meanwhile`, () =>
  onScene({ program, machines: ['node-a', 'node-b'], services: ['web', 'api'] }, async (scene) => {
    const peers = async () => {
      const all = await listAll(scene.client, bgpPeers, { namespace })
      return Object.fromEntries(all.map(({ metadata: { name }, spec }) => [name, spec]))
    }
    const before = await eventually('each peer counts each Service', async (observe) => {
      const all = observe(await peers())
      const isCounted = ({ nodeSelectors = [] }: BGPPeer['spec']) => nodeSelectors.length === 1 + scene.addresses.size
      return Object.values(all).every(isCounted) ? all : undefined
    })
    const { there, back } = byCommands(program)
    const product = await there(scene)
    await scene.addMachine('node-c')
    await isAnnounced(scene)
    await backAgain(scene, () => back(scene, product))
    await isAnnounced(scene)
    const { 'node-c-0': first, 'node-c-1': second, ...others } = await peers()
    assert.equal(others, before)
    assert.equal([first?.holdTime, second?.holdTime], ['0s', '0s'])
  }))

test.run()
