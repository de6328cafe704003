// A takeover by `takeover plan` and `apply`, and the way back by `undo`.
import * as assert from 'uvu/assert'
import type { Product } from '../../../sandbox/product.ts'
import type { TakeoverPlan } from '../../../commands/takeover/plan/plan.ts'
import type { PredecessorProgram } from '../../predecessors/programs.ts'
import { followed } from '../../whole/command-line.ts'
import { type Scene, type SceneOptions, onScene, settingsOf } from './scene.ts'
import { type Way, walk } from './walk.ts'

type Walk = Partial<SceneOptions> & { rounds?: 1 | 2 }

/** Walks there and back with the commands, while routers record the routes. */
export function walkByCommands(program: PredecessorProgram, { rounds = 1, ...options }: Walk = {}): Promise<void> {
  const cluster = { program, machines: ['node-a', 'node-b'], services: ['web', 'api', 'shop'], ...options }
  return onScene(cluster, (scene) => walk(scene, byCommands(program), rounds))
}

/** Plans, applies and, when the command asks for it, starts our process as a person without the chart does. */
export function byCommands(program: PredecessorProgram): Way {
  return {
    there: async (scene) => {
      await checkPlan(scene)
      let product: Promise<Product> | undefined
      const start = () => (product ??= scene.start({ env: settingsOf(program) }))
      const apply = ['takeover', 'apply', ...flagsOf(scene), `--webhook-url=${scene.webhookUrl}`]
      const { code, output } = await followed(apply, (text) => {
        // The second call reports a failed start.
        if (text.includes('start `eip-admission serve`')) start().catch(() => {})
      })
      assert.is(code, 0, output)
      const announced = `MetalLB announces ${scene.addresses.size} Services, according to its ServiceBGPStatus objects`
      assert.match(output, scene.metallb.hasObjects ? announced : 'Routes were not verified')
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

/** Checks that the plan finds everything without flags, writes nothing, and reports no obstacle. */
async function checkPlan(scene: Scene): Promise<void> {
  const { code, output } = await followed(['takeover', 'plan', '-o', 'json', ...flagsOf(scene)])
  assert.is(code, 0, output)
  const plan = JSON.parse(output) as TakeoverPlan
  assert.equal(plan.blockers, [])
  const planned = plan.services.map(({ name, before, after, held }) => [name, before, after, held].join(' '))
  const wanted = [...scene.addresses].map(([name, address]) => `${name} ${address} ${address} reserved`)
  assert.equal(new Set(planned), new Set(wanted))
  assert.not(plan.services.some(({ held }) => held === 'pending'))
}
