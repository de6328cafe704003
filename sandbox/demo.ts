// Shows on a real API server what a person would want to see, checks it, and ends with 0 or 1.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { dialects } from './dialects.ts'
import { type Sandbox, runSandbox } from './run-sandbox.ts'
import { node, service, uninitialized } from './objects.ts'
import { networkVersion } from './demo-network.ts'
import { namespaced } from './rig/namespace.ts'
import { prepareRig } from './rig/prepare.ts'
import { dialectExamples } from './dialect-examples.ts'
import { waitUntil, check, printHeading, showKubectl } from './terminal.ts'

/** How many public addresses the cloud has for us; it makes blocks for machines by itself. */
function reserved({ stage }: Sandbox): number {
  const { reservations } = stage.cloud.door
  return reservations.all().filter(dialects[stage.dialect].isOrdered).length - reservations.leaving().length
}

async function leavesCreateWithAddress(sandbox: Sandbox): Promise<void> {
  printHeading('A Service leaves `kubectl create` with its address')
  const started = performance.now()
  const address = ['-o', 'jsonpath={.spec.loadBalancerIP}']
  const { stdout } = await showKubectl(sandbox.stage, [
    'create',
    'service',
    'loadbalancer',
    'web',
    '--tcp=80:80',
    ...address,
  ])
  const ms = Math.round(performance.now() - started)
  check(/^\d+\.\d+\.\d+\.\d+$/.test(stdout), 'the address was there when create returned')
  console.log(
    `    after ${ms} ms, the start of kubectl included; the cloud alone takes ${sandbox.latencyMs} ms for a call`,
  )
}

async function saysWhoHoldsWhat(sandbox: Sandbox): Promise<void> {
  const { elsewhere } = dialectExamples[sandbox.stage.dialect]
  const there = elsewhere ? `, one of them in ${elsewhere.name}` : ''
  printHeading(`Two more${there}; who holds which address?`)
  await showKubectl(sandbox.stage, ['create', '-f', '-'], service('shop', {}))
  await showKubectl(sandbox.stage, ['create', '-f', '-'], service('mail', elsewhere?.annotations ?? {}))
  await waitUntil(async () => {
    const { stdout: phases } = await sandbox.stage.kubectl(['get', 'eip', '-o', 'jsonpath={.items[*].status.phase}'])
    return phases === 'Bound Bound Bound'
  })
  const { stdout } = await showKubectl(sandbox.stage, ['get', 'eip'])
  const mail = new RegExp(`mail\\s+\\S+\\s+${elsewhere?.place ?? '\\S+'}\\s+Bound`)
  check(mail.test(stdout), `three Services hold three addresses${there}`)
  await showKubectl(sandbox.stage, ['get', 'services'])
  check(reserved(sandbox) === 3, 'the cloud has reserved three')
}

/** MetalLB shows a Service's address when it has learned it, and here it does not run: what it would read is there. */
async function tellsMetallb({ stage }: Sandbox): Promise<void> {
  const { configMap } = dialectExamples[stage.dialect]
  if (!configMap) return
  printHeading('They are <pending> until MetalLB shows them. This cluster has none, but here is what one would read')
  const { namespace, name } = configMap
  await showKubectl(stage, ['create', 'namespace', namespace])
  await showKubectl(stage, ['create', 'configmap', name, '-n', namespace, '--from-literal=config='])
  const read = ['get', 'configmap', name, '-n', namespace, '-o', 'jsonpath={.data.config}']
  const pools = (text: string) => text.match(/\d+\/32/g)?.length
  await waitUntil(async () => pools((await stage.kubectl(read)).stdout) === 3)
  const { stdout } = await showKubectl(stage, read)
  check(pools(stdout) === 3, 'each address is in a pool of its own')
}

async function refusesMistakes(sandbox: Sandbox): Promise<void> {
  printHeading('A mistake is told in the terminal, all of it at once')
  const { annotations, hint } = dialectExamples[sandbox.stage.dialect].mistake
  const wrong = service('blog', annotations)
  const created = await showKubectl(sandbox.stage, ['create', '-f', '-'], wrong)
  check(created.code !== 0 && created.stderr.includes(hint), 'the Service was refused, with a hint')

  printHeading('So it is in a dry run, and a good one reserves nothing')
  const rehearsed = await showKubectl(sandbox.stage, ['create', '--dry-run=server', '-f', '-'], wrong)
  check(rehearsed.code !== 0 && rehearsed.stderr.includes(hint), 'it was refused in the same words')
  await showKubectl(sandbox.stage, ['create', '--dry-run=server', '-f', '-'], service('blog', {}))
  check(reserved(sandbox) === 3, 'the cloud still has three')
}

async function givesBack(sandbox: Sandbox): Promise<void> {
  printHeading('A deleted Service gives its address back')
  await showKubectl(sandbox.stage, ['delete', 'service', 'web', 'shop', 'mail'])
  await waitUntil(async () => reserved(sandbox) === 0)
  const { stdout } = await showKubectl(sandbox.stage, ['get', 'eip'])
  check(!stdout.includes('Bound'), 'nobody holds an address')
  const leaving = sandbox.stage.cloud.door.reservations.leaving()
  const lists = leaving.length > 0 ? ', although it lists for a while what it was told to delete' : ''
  check(reserved(sandbox) === 0, `the cloud has none reserved${lists}`)
}

async function knowsMachines(sandbox: Sandbox): Promise<void> {
  printHeading('A machine joins the cluster: its node learns where it is, and whom it speaks BGP with')
  const { cloud, project, dialect } = sandbox.stage
  const { scheme, peerAddress } = dialectExamples[dialect]
  cloud.door.devices.add({ project, hostname: 'worker-0' })
  await showKubectl(sandbox.stage, ['create', '-f', '-'], node('worker-0'))
  const taints = ['get', 'node', 'worker-0', '-o', 'jsonpath={.spec.taints[*].key}']
  await waitUntil(async () => !(await sandbox.stage.kubectl(taints)).stdout.includes(uninitialized))
  const peer = `jsonpath={.metadata.annotations.${peerAddress.replaceAll('.', '\\.')}}`
  await waitUntil(async () => (await sandbox.stage.kubectl(['get', 'node', 'worker-0', '-o', peer])).stdout !== '')
  const columns = [
    'ID:.spec.providerID',
    'TYPE:.metadata.labels.node\\.kubernetes\\.io/instance-type',
    `ADDRESSES:${every}`,
  ]
  const { stdout } = await showKubectl(sandbox.stage, [
    'get',
    'node',
    'worker-0',
    '-o',
    `custom-columns=${columns.join()}`,
  ])
  check(stdout.includes(scheme), 'its machine was found, and pods may be scheduled there')
  const said = await showKubectl(sandbox.stage, ['get', 'node', 'worker-0', '-o', peer])
  check(/^\d+\.\d+\.\d+\.\d+\b/.test(said.stdout), 'BGP is on for it, and the address of its router is there')
}

const every = '.status.addresses[*].address'

/** A real MetalLB and real routers need a network of their own, and with it a cluster of their own. */
async function reachesTheNetwork({ stage }: Sandbox): Promise<void> {
  if (stage.dialect !== 'equinix-metal') return
  const why = await prepareRig([networkVersion])
  if (why !== undefined) {
    printHeading('Not shown: a real MetalLB that tells real routers')
    console.log(`    ${why}`)
    return
  }
  const [program = '', ...args] = namespaced([process.execPath, join(import.meta.dirname, 'demo-network.ts')])
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error('the demo expected that routers learn the address of a Service')
}

const acts = [leavesCreateWithAddress, saysWhoHoldsWhat, tellsMetallb, refusesMistakes, givesBack, knowsMachines]

await runSandbox(async (sandbox, interrupted) => {
  try {
    for (const act of acts) {
      if (interrupted.aborted) throw new Error('the demo was interrupted')
      await act(sandbox)
    }
    await reachesTheNetwork(sandbox)
    printHeading('That was all of it. `make sandbox` keeps it running for you.')
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
})
