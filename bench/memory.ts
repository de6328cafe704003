import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { imageNode, nodeFlags } from '../packaging/program.ts'
import type { Stage } from '../sandbox/stage.ts'
import { withImage } from './image.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { bareNode, memoryMiB } from './proc.ts'
import { announced, installMetallb, joinNodes, metallbEnv, nodeNames } from './metallb-stage.ts'
import { type Admin, bound, createWithAddress, onStage, swept } from './stage.ts'

const count = 1000
const nodeCount = 200
const clients = 8
/** After this time without work, the heap has stopped shrinking. */
const restMs = 10_000

/** The product's memory with many settled Services and nodes, and that of a guardian, in the image as a pod. */
export function memory(): Promise<Row[]> {
  return withImage(async (rootfs) => {
    const guardian = await onStage((stage) => guardianAlone(stage, rootfs), { rootfs })
    return [...(await onStage(measure, { rootfs })), ...guardian]
  })
}

/** An idle guardian of the control-plane address, compared with bare Node. */
async function guardianAlone(stage: Stage, rootfs: string): Promise<Row[]> {
  const flags = ['--only=control-plane', '--node-name=node-a', '--logging-format=json']
  const { pid } = await stage.serve({ env: { METAL_EIP_TAG: 'control-plane' }, flags })
  await sleep(restMs)
  const guardian = memoryMiB(pid)
  const bare = await bareNode(join(rootfs, imageNode), nodeFlags)
  const beside = (samples: number[]) => ({ what: 'node alone', samples })
  return [
    {
      measure: 'memory of a guardian, resident',
      unit: 'MiB',
      ours: [guardian.resident],
      beside: beside([bare.resident]),
    },
    { measure: 'the same, own', unit: 'MiB', ours: [guardian.own], beside: beside([bare.own]) },
  ]
}

async function measure(stage: Stage, admin: Admin): Promise<Row[]> {
  await installMetallb(stage, admin)
  const { pid } = await stage.serve({ env: metallbEnv, flags: ['--logging-format=json'] })
  await swept(admin)
  stage.cloud.control.quota.set(2 * count)
  const empty = memoryMiB(pid)
  await inFlight(clients, count, async (place) => void (await createWithAddress(admin, `web-${place}`)))
  await joinNodes(stage, admin, nodeNames(nodeCount))
  await bound(admin, count)
  await announced(admin, { addresses: count, nodes: nodeCount })
  await sleep(restMs)
  const full = memoryMiB(pid)
  const beside = (samples: number[]) => ({ what: 'without any', samples })
  return [
    {
      measure: 'memory with 1,000 Services and 200 nodes, resident',
      unit: 'MiB',
      ours: [full.resident],
      beside: beside([empty.resident]),
      goal: { of: 'ours', atMost: 100 },
    },
    { measure: 'the same, own', unit: 'MiB', ours: [full.own], beside: beside([empty.own]) },
  ]
}
