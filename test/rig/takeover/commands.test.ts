// `takeover plan`, `apply` and `undo` on a cluster that a predecessor runs: what they promise, with routers that look on.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../../kube/list-all.ts'
import { bgpPeers } from '../../../announcers/metallb/resources.ts'
import type { Product } from '../../../sandbox/product.ts'
import type { TakeoverPlan } from '../../../server/takeover/plan.ts'
import { type PredecessorProgram, programs } from '../../predecessors/programs.ts'
import { followed, typed } from '../../whole/command-line.ts'
import { type Scene, namespace, onScene, settingsOf, titleOf } from './scene.ts'
import { type Way, backAgain, walk } from './walk.ts'

const machines = ['node-a', 'node-b']
const services = ['web', 'api', 'shop']

/** Plans, applies and, when the command says so, starts ours as a person without the chart does. */
function byCommands(program: PredecessorProgram): Way {
  return {
    there: async (scene) => {
      await checkPlan(scene)
      let product: Promise<Product> | undefined
      const start = () => (product ??= scene.start({ env: settingsOf(program) }))
      const apply = ['takeover', 'apply', ...flagsOf(scene), `--webhook-url=${scene.webhookUrl}`]
      const { code, output } = await followed(apply, (text) => {
        if (text.includes('start `eip-admission serve`')) void start()
      })
      assert.is(code, 0, output)
      return start()
    },
    back: async (scene, product) => {
      await product.stop()
      const { code, output } = await followed(['takeover', 'undo', ...flagsOf(scene)])
      assert.is(code, 0, output)
    },
  }
}

function flagsOf({ controlPlane }: Scene): string[] {
  return [`--kubeconfig=${controlPlane.kubeconfig}`]
}

/** The plan finds everything by itself, writes nothing, and has nothing in its way. */
async function checkPlan(scene: Scene): Promise<void> {
  const { stdout, stderr } = await typed(['takeover', 'plan', '-o', 'json', ...flagsOf(scene)], { PATH: '' })
  const plan = JSON.parse(stdout) as TakeoverPlan
  assert.equal(plan.blockers, [], stderr)
  const planned = plan.services.map(({ name, before, after, held }) => [name, before, after, held].join(' '))
  const wanted = [...scene.addresses].map(([name, address]) => `${name} ${address} ${address} reserved`)
  assert.equal(new Set(planned), new Set(wanted))
  assert.is(plan.cost.addressesAfter, plan.cost.addressesBefore)
}

for (const program of [programs['CPEM 3.8'], programs['Cherry main'], programs['Cherry 1.35.2']]) {
  test(`${titleOf(program)}: takeover and undo, twice: nothing is bought, dropped or without a way`, () =>
    onScene({ program, machines, services }, (scene) => walk(scene, byCommands(program))))
}

test('after undo the predecessor changes no peer, also of a node that came under ours', () =>
  onScene({ program: programs['CPEM 3.8'], machines, services }, async (scene) => {
    const { there, back } = byCommands(programs['CPEM 3.8'])
    const product = await there(scene)
    await scene.addMachine('node-c')
    const peers = async () => {
      const all = await listAll(scene.client, bgpPeers, { namespace })
      return all.map(({ metadata: { name }, spec }) => ({ name, spec }))
    }
    let undone: Awaited<ReturnType<typeof peers>> = []
    await backAgain(scene, async () => {
      await back(scene, product)
      undone = await peers()
    })
    assert.equal(await peers(), undone)
    assert.equal(
      undone.map(({ name }) => name).toSorted(),
      ['node-a', 'node-b', 'node-c'].flatMap((node) => [`${node}-0`, `${node}-1`]),
    )
  }))

test.run()
