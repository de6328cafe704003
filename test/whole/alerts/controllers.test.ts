// Controllers that cannot finish: another program undoes their work, or they may not delete a node.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import { services } from '../../../kube/resource.ts'
import { loadBalancer, shown } from '../manifests.ts'
import { simulatedNodes } from '../simulated-nodes.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { startNode, say } = simulatedNodes(stage)

/** Another program that takes our annotation off a Service as soon as it sees it, until the signal aborts. */
async function undo(name: string, signal: AbortSignal): Promise<void> {
  const at = { namespace: 'default', name }
  while (!signal.aborted) {
    const stored = await stage.client.get(services, at)
    if (stored?.metadata.annotations?.[shown] !== undefined) {
      const merge = { metadata: { annotations: { [shown]: null } } }
      await stage.client.patch(services, { ...at, patch: { merge } })
    }
    await sleep(2)
  }
}

test(
  'a program that undoes the work of a controller',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    await stage.create(loadBalancer('disputed'))
    const over = new AbortController()
    const undone = undo('disputed', over.signal)
    await pass(60, { load: false, paceMs: 100 })
    over.abort()
    await undone
    await expect(['EIPAdmissionReconcilesFail'])
  }),
)

test(
  'a node whose machine is gone, and that is only reported',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', ['--node-removal=report', '--node-monitor-period=1s', '--node-removal-delay=1s'])
    const { id } = await startNode('lost')
    await pass(10)
    stage.cloud.control.devices.remove(id)
    await say('lost', 'Unknown')
    await pass(60, { paceMs: 100 })
    await expect(['EIPAdmissionNodeRemovalHeld'])
  }),
)

test.after(() => stage.close())

test.run()
