// What happens below the command takeover: theirs is stopped, ours is installed and serves; then the other way round.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpPeers } from '../../../announcers/metallb/resources.ts'
import { listAll } from '../../../kube/list-all.ts'
import type { Product } from '../../../sandbox/product.ts'
import { type PredecessorProgram, programs } from '../../predecessors/programs.ts'
import { typed } from '../../whole/command-line.ts'
import { dialectOf } from '../../whole/dialects.ts'
import { eventually } from '../../whole/eventually.ts'
import { routes } from '../../whole/test-stage.ts'
import { type Scene, checkQuiet, isAnnounced, namespace, objectNames, onScene, seen, titleOf } from './scene.ts'

async function takeOver(scene: Scene, program: PredecessorProgram): Promise<Product> {
  await scene.predecessor.scale(0)
  await scene.install()
  const { here, loadBalancer, bgp } = dialectOf(program.dialect)
  const secret = bgp.password && { [bgp.password.setting]: bgp.password.value }
  const product = await scene.startSwept({
    env: { ...here, ...secret, [loadBalancer]: program.settings['loadbalancer'] ?? '' },
  })
  await eventually('every peer is taken over', async (observe) => {
    const peers = observe(await listAll(scene.client, bgpPeers, { namespace }))
    const areOurs = peers.every(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'eip-admission')
    return (areOurs && peers.every(({ spec }) => spec.holdTime === '30s')) || undefined
  })
  for (const name of scene.addresses.keys()) await scene.settled(name)
  return product
}

/** Scales the predecessor up again, and waits until it has looked at every Service twice. */
async function giveBack(scene: Scene): Promise<void> {
  const { predecessor, addresses, controlPlane } = scene
  const before = syncs(predecessor.logFile)
  const { code, stdout, stderr } = await typed(['cleanup', `--kubeconfig=${controlPlane.kubeconfig}`, '--yes'])
  assert.is(code, 0, stdout + stderr)
  await predecessor.scale(1)
  await eventually(
    'it has looked at every Service',
    () => syncs(predecessor.logFile) >= before + addresses.size || undefined,
    90_000,
  )
}

function syncs(log: string): number {
  return readFileSync(log, 'utf8').match(/synced service |Ensured load balancer/g)?.length ?? 0
}

for (const program of [programs['CPEM 3.8'], programs['Cherry main']]) {
  test(`${titleOf(program)} hands over and takes over again, twice: nothing is bought, dropped or without a way`, () =>
    onScene({ program, machines: ['node-a', 'node-b'], services: ['web', 'api', 'shop'] }, async (scene) => {
      for (const round of [1, 2]) {
        let before = await seen(scene)
        const objects = await objectNames(scene)
        scene.cloud.control.calls.clear()
        const startedMs = Date.now()
        const product = await takeOver(scene, program)
        await isAnnounced(scene)
        await checkQuiet(scene, before, startedMs)
        assert.equal(await objectNames(scene), objects)

        await scene.addService(`new-${round}`)
        await isAnnounced(scene)
        await scene.deleteService(round === 1 ? 'api' : 'new-1')
        await isAnnounced(scene)

        before = await seen(scene)
        scene.cloud.control.calls.clear()
        const backMs = Date.now()
        await product.stop()
        await giveBack(scene)
        await isAnnounced(scene)
        await checkQuiet(scene, before, backMs)

        const [dropped = ''] = scene.addresses.keys()
        scene.cloud.control.calls.clear()
        await scene.deleteService(dropped)
        assert.is(scene.calls(routes.release), 1)
        await isAnnounced(scene)
        await scene.addService(dropped)
        await isAnnounced(scene)
      }
    }))
}

test.run()
