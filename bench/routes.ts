// The time from the create of a Service to its routes, with MetalLB and with Cilium, and the cost of a change between
// them. bench/run.ts runs this in namespaces: the real MetalLB, Cilium's own LB IPAM and BGP, and BIRD as the routers.
import { nodes, services } from '../kube/resource.ts'
import { setCiliumRig } from '../sandbox/rig/cilium.ts'
import { type Part, makeMetallb } from '../sandbox/rig/metallb.ts'
import { providers } from '../sandbox/rig/providers.ts'
import type { Machine } from '../sandbox/rig/register-machine.ts'
import type { Routers } from '../sandbox/rig/routers.ts'
import type { Stage } from '../sandbox/stage.ts'
import type { Row } from './measure.ts'
import { joinNodes, nodeNames } from './metallb-stage.ts'
import { type Admin, env, loadBalancer, onStage, swept, until } from './stage.ts'

const password = 'Secret12345abc'
const settings = { ...env, METAL_BGP_PASS: password }
const urls = { metallb: 'metallb:///metallb-system?crdConfiguration=true', cilium: 'cilium:///' }
type Software = keyof typeof urls
const rounds = 10
const { routers: addressesOfRouters } = providers['equinix-metal']

type Scene = { admin: Admin; routers: Routers; machines: Machine[] }

/** How many routes lead to an address: each router has one to each machine. */
async function ways({ routers }: Scene, address: string): Promise<number> {
  return (await routers.routes()).filter(({ prefix }) => prefix === `${address}/32`).length
}

function led(scene: Scene, address: string): Promise<void> {
  const all = addressesOfRouters.length * scene.machines.length
  return until(`there are all ways to ${address}`, async () => (await ways(scene, address)) === all, 25)
}

/** Creates a Service; returns its address, and the time until the last router had every route to it. */
async function create(scene: Scene, name: string): Promise<{ address: string; ms: number }> {
  const service = loadBalancer(name)
  const startedMs = Date.now()
  const created = await scene.admin.create(services, {
    ...service,
    spec: { ...service.spec, selector: { app: 'web' } },
  })
  const address = created.spec.loadBalancerIP ?? ''
  await led(scene, address)
  const learned = scene.routers.changes().filter(({ what, prefix }) => what === 'learned' && prefix === `${address}/32`)
  return { address, ms: Math.max(...learned.map(({ atMs }) => atMs)) - startedMs }
}

/** The longest time in which one router had no route to an address, since a point in time. */
function gapMs({ routers, machines }: Scene, address: string, sinceMs: number): number {
  const gaps = addressesOfRouters.map((router) => {
    let [count, lostAtMs, longestMs] = [machines.length, 0, 0]
    for (const { atMs, what, prefix, ...at } of routers.changes()) {
      if (atMs < sinceMs || at.router !== router || prefix !== `${address}/32`) continue
      count += what === 'lost' ? -1 : 1
      if (count === 0) lostAtMs = atMs
      if (count === 1 && what === 'learned' && lostAtMs > 0) longestMs = Math.max(longestMs, atMs - lostAtMs)
    }
    return longestMs
  })
  return Math.max(...gaps)
}

/** Everything that runs, and the function that restarts the product with one of the two. */
type Both = Scene & { parts: Part[]; change: (to: Software) => Promise<void>; stop: () => Promise<void> }

/** Two machines with the real MetalLB, which announces, and with Cilium, which does not announce yet. */
async function setBoth(stage: Stage, admin: Admin): Promise<Both> {
  const { controlPlane } = stage
  const rig = await setCiliumRig({ controlPlane, password })
  const metallb = await makeMetallb(controlPlane, { version: '0.16.1' })
  await metallb.install()
  const start = (software: Software) => stage.serve({ env: { ...settings, METAL_LOAD_BALANCER: urls[software] } })
  let product = await start('metallb')
  await joinNodes(stage, admin, nodeNames(2))
  const machines = await Promise.all(
    nodeNames(2).map(async (name) => ({ name, address: await internalIP(admin, name) })),
  )
  for (const machine of machines) await rig.node(machine)
  const parts = [metallb.controller, ...(await Promise.all(machines.map((machine) => metallb.speaker(machine))))]
  for (const part of parts) await part.start()
  await swept(admin)
  return {
    admin,
    machines,
    routers: rig.routers,
    parts,
    async change(to) {
      await product.stop()
      product = await start(to)
    },
    async stop() {
      for (const part of parts) await part.stop()
      await rig.stop()
    },
  }
}

async function internalIP(admin: Admin, name: string): Promise<string> {
  let address: string | undefined
  await until(`${name} has an address`, async () => {
    const node = await admin.get(nodes, { name })
    address = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    return address !== undefined
  })
  return address ?? ''
}

/** Changes the setting as the guide says; returns for how long a router had no route to an address. */
async function change(both: Both, to: Software, address: string): Promise<number> {
  const { routers, parts } = both
  const sinceMs = Date.now()
  if (to === 'metallb') for (const part of parts) await part.start()
  await both.change(to)
  await until(`${to} takes over`, () => Promise.resolve(routers.changes().some(({ atMs }) => atMs > sinceMs)))
  if (to === 'cilium') for (const part of parts) await part.stop()
  await create(both, `after-${to}`)
  await led(both, address)
  return gapMs(both, address, sinceMs)
}

async function creates(both: Both, software: Software): Promise<number[]> {
  const samples: number[] = []
  for (let n = 0; n < rounds; n += 1) samples.push((await create(both, `${software}-${n}`)).ms)
  return samples
}

async function measure(stage: Stage, admin: Admin): Promise<Row[]> {
  const both = await setBoth(stage, admin)
  try {
    const { address } = await create(both, 'kept')
    const byMetallb = await creates(both, 'metallb')
    const toCilium = await change(both, 'cilium', address)
    const byCilium = await creates(both, 'cilium')
    const toMetallb = await change(both, 'metallb', address)
    return [
      {
        measure: 'create to the last route, by Cilium',
        unit: 'ms',
        ours: byCilium,
        beside: { what: 'by MetalLB 0.16.1', samples: byMetallb },
      },
      { measure: 'no route at a router while MetalLB gives way to Cilium', unit: 'ms', ours: [toCilium] },
      { measure: 'the same, back to MetalLB', unit: 'ms', ours: [toMetallb] },
    ]
  } finally {
    await both.stop()
  }
}

console.log(JSON.stringify(await onStage(measure, { controllers: ['endpoints-controller'] })))
