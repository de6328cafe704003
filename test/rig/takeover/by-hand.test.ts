// The steps of the command takeover by hand: theirs is stopped, ours is installed and serves; then the reverse.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpPeers } from '../../../announcers/metallb/resources.ts'
import { listAll } from '../../../kube/list-all.ts'
import { runProduct } from '../../../sandbox/product.ts'
import { type PredecessorProgram, programs } from '../../predecessors/programs.ts'
import { typed } from '../../whole/command-line.ts'
import { eventually } from '../../whole/eventually.ts'
import { isAnnounced, namespace, objectNames, onScene, settingsOf, titleOf } from './scene.ts'
import { type Way, backAgain, leavesAlone, quietly } from './walk.ts'

function byHand(program: PredecessorProgram): Way {
  return {
    there: async (scene) => {
      await scene.predecessor.turn('off')
      await runProduct([
        'install',
        `--kubeconfig=${scene.controlPlane.kubeconfig}`,
        `--webhook-url=${scene.webhookUrl}`,
      ])
      const product = await scene.startSwept({ env: settingsOf(program) })
      await eventually('every peer is taken over', async (observe) => {
        const peers = observe(await listAll(scene.client, bgpPeers, { namespace }))
        return peers.every(
          ({ metadata, spec }) =>
            metadata.labels?.['app.kubernetes.io/managed-by'] === 'eip-admission' && spec.holdTime === '30s',
        )
          ? true
          : undefined
      })
      for (const name of scene.addresses.keys()) await scene.settled(name)
      return product
    },
    back: async ({ predecessor, controlPlane }, product) => {
      await product.stop()
      const { code, stdout, stderr } = await typed(['cleanup', `--kubeconfig=${controlPlane.kubeconfig}`, '--yes'])
      assert.is(code, 0, stdout + stderr)
      await predecessor.turn('on')
    },
  }
}

const program = programs['CPEM 3.8']

test(`${titleOf(program)} hands over and takes over again by hand: nothing is bought or dropped`, () =>
  onScene({ program, machines: ['node-a', 'node-b'], services: ['web', 'api', 'shop'] }, async (scene) => {
    const { there, back } = byHand(program)
    const objects = await objectNames(scene)
    const product = await quietly(scene, () => there(scene))
    assert.equal(await objectNames(scene), objects)
    // A peer that is added under ours must be removed under ours: only the command writes how theirs counts it.
    await scene.addService('new')
    await isAnnounced(scene)
    for (const name of ['new', 'api']) await leavesAlone(scene, name)
    // It rewrites each peer with our hold time, all at once: by hand, a route may be missing for a moment. CPEM's first
    // peers then count only one Service, so its behaviour at the next deletion is not checked.
    await quietly(scene, () => backAgain(scene, () => back(scene, product)), [])
  }))

test.run()
