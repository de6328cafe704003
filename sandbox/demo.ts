// Shows what eip-admission does, with kubectl on a real API server and a simulated cloud. Each step checks its result;
// the exit code is 0 when every check holds, otherwise 1. Call it as `make demo`, or `make demo CLOUD=hetzner`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type BackgroundBuild, buildInBackground } from './background-build.ts'
import { dialects } from './dialects.ts'
import { dialectExamples } from './dialect-examples.ts'
import { metallbVersion } from './demo-network.ts'
import { node, service, uninitialized } from './objects.ts'
import { findNamespaceProblem, namespaced } from './rig/namespace.ts'
import { prepareRig } from './rig/prepare.ts'
import { type Sandbox, runSandbox, sayReady } from './run-sandbox.ts'
import { check, printDetail, printHeading, showKubectl, waitUntil } from './terminal.ts'

/** Counts the addresses that eip-admission reserved; the cloud also creates blocks for machines on its own. */
function countReservations({ stage }: Sandbox): number {
  const { reservations } = stage.cloud.control
  return reservations.all().filter(dialects[stage.dialect].isOrdered).length - reservations.deleting().length
}

async function createService(sandbox: Sandbox): Promise<void> {
  printHeading('`kubectl create` returns the Service with its address')
  const startedMs = performance.now()
  const output = ['-o', 'jsonpath={.spec.loadBalancerIP}']
  const create = ['create', 'service', 'loadbalancer', 'web', '--tcp=80:80', ...output]
  const { stdout } = await showKubectl(sandbox.stage, create)
  const ms = Math.round(performance.now() - startedMs)
  check(/^\d+\.\d+\.\d+\.\d+$/.test(stdout), 'the Service has its address when kubectl returns')
  printDetail(`kubectl took ${ms} ms. Each call to the simulated cloud takes ${sandbox.latencyMs} ms.`)
}

/** Where the provider routes each address to one machine, Events name its node. */
async function moveAddress({ stage }: Sandbox): Promise<void> {
  if (!dialectExamples[stage.dialect].assigned) return
  printHeading('The provider routes the address to a node, and the Service shows it')
  const assigned = ['get', 'events', '--field-selector=reason=AddressAssigned', '-o', 'custom-columns=EVENT:.message']
  const nodeIn = async (words: string) =>
    new RegExp(`${words} node (worker-\\d)`).exec((await stage.kubectl(assigned)).stdout)?.[1]
  const address = async () => (await stage.kubectl(['get', 'service', 'web', '-o', shownAddress])).stdout
  await waitUntil(async () => (await address()) !== '' && (await nodeIn('is assigned to')) !== undefined)
  await showKubectl(stage, ['get', 'service', 'web'])
  await showKubectl(stage, assigned)
  const [before, shown] = [await nodeIn('is assigned to'), await address()]
  check(shown !== '' && before !== undefined, `the address leads to ${before}`)

  printHeading(`When ${before} fails, the address moves to the other node, and the Service keeps it`)
  await showKubectl(stage, sayReady(before ?? '', 'Unknown'))
  printDetail('The cluster writes this when a kubelet is silent. No kubelet runs here.')
  await waitUntil(async () => (await nodeIn(`moved from ${before} to`)) !== undefined)
  await showKubectl(stage, assigned)
  const after = await nodeIn(`moved from ${before} to`)
  check(after !== undefined && (await address()) === shown, `the address leads to ${after}, and is the same`)
  await stage.kubectl(sayReady(before ?? '', 'True'))
}

const shownAddress = 'jsonpath={.status.loadBalancer.ingress[0].ip}'

async function listAddresses(sandbox: Sandbox): Promise<void> {
  const { otherLocation } = dialectExamples[sandbox.stage.dialect]
  const where = otherLocation ? `, one of them in ${otherLocation.name}` : ''
  printHeading(`Create two more Services${where}, and list which Service holds which address`)
  await showKubectl(sandbox.stage, ['create', '-f', '-'], service('shop', {}))
  await showKubectl(sandbox.stage, ['create', '-f', '-'], service('mail', otherLocation?.annotations ?? {}))
  await waitUntil(async () => {
    const { stdout: phases } = await sandbox.stage.kubectl(['get', 'eip', '-o', 'jsonpath={.items[*].status.phase}'])
    return phases === 'Bound Bound Bound'
  })
  const { stdout } = await showKubectl(sandbox.stage, ['get', 'eip'])
  const mail = new RegExp(`mail\\s+\\S+\\s+${otherLocation?.code ?? '\\S+'}\\s+Bound`)
  check(mail.test(stdout), `three Services hold three addresses${where}`)
  await showKubectl(sandbox.stage, ['get', 'services'])
  check(countReservations(sandbox) === 3, 'the provider lists three reservations')
}

/** A Service shows its address when MetalLB has announced it. No MetalLB runs here, so this shows what it would read. */
async function showAddressPools({ stage }: Sandbox): Promise<void> {
  const { configMap } = dialectExamples[stage.dialect]
  if (!configMap) return
  printHeading('Services stay <pending> until MetalLB announces them. None runs here; it would read this ConfigMap')
  const { namespace, name } = configMap
  await showKubectl(stage, ['create', 'namespace', namespace])
  await showKubectl(stage, ['create', 'configmap', name, '-n', namespace, '--from-literal=config='])
  const read = ['get', 'configmap', name, '-n', namespace, '-o', 'jsonpath={.data.config}']
  const countPools = (text: string) => text.match(/\d+\/32/g)?.length
  await waitUntil(async () => countPools((await stage.kubectl(read)).stdout) === 3)
  const { stdout } = await showKubectl(stage, read)
  check(countPools(stdout) === 3, 'each address has its own pool')
}

async function refuseMistakes(sandbox: Sandbox): Promise<void> {
  printHeading('A Service with mistakes is refused. The error lists all of them and proposes corrections')
  const { annotations, hint } = dialectExamples[sandbox.stage.dialect].mistake
  const wrong = service('blog', annotations)
  const created = await showKubectl(sandbox.stage, ['create', '-f', '-'], wrong)
  check(
    created.code !== 0 && created.stderr.includes(hint),
    'the API server refuses the Service, and the error proposes a correction',
  )

  printHeading('A dry run finds the same mistakes, and reserves nothing')
  const rehearsed = await showKubectl(sandbox.stage, ['create', '--dry-run=server', '-f', '-'], wrong)
  check(rehearsed.code !== 0 && rehearsed.stderr.includes(hint), 'the dry run fails with the same error')
  await showKubectl(sandbox.stage, ['create', '--dry-run=server', '-f', '-'], service('blog', {}))
  check(countReservations(sandbox) === 3, 'the provider still lists three reservations')
}

async function deleteServices(sandbox: Sandbox): Promise<void> {
  printHeading('When a Service is deleted, eip-admission deletes its reservation at the provider')
  await showKubectl(sandbox.stage, ['delete', 'service', 'web', 'shop', 'mail'])
  await waitUntil(async () => countReservations(sandbox) === 0)
  const { stdout } = await showKubectl(sandbox.stage, ['get', 'eip'])
  check(!stdout.includes('Bound'), 'no Service holds an address')
  const deleting = sandbox.stage.cloud.control.reservations.deleting()
  const stillListed = deleting.length > 0 ? ', although its list shows deleted ones for a short time' : ''
  check(countReservations(sandbox) === 0, `the provider has no reservation left${stillListed}`)
}

async function addMachine(sandbox: Sandbox): Promise<void> {
  const { cloud, project, dialect } = sandbox.stage
  const { scheme, routerAnnotation } = dialectExamples[dialect]
  const also = routerAnnotation === undefined ? 'and its addresses' : 'its addresses and its BGP routers'
  const comma = routerAnnotation === undefined ? ' ' : ', '
  printHeading(`When a machine joins the cluster, its node gets a provider ID${comma}${also}`)
  cloud.control.devices.add({ project, hostname: 'worker-0' })
  await showKubectl(sandbox.stage, ['create', '-f', '-'], node('worker-0'))
  const taints = ['get', 'node', 'worker-0', '-o', 'jsonpath={.spec.taints[*].key}']
  await waitUntil(async () => !(await sandbox.stage.kubectl(taints)).stdout.includes(uninitialized))
  const columns = [
    'ID:.spec.providerID',
    'TYPE:.metadata.labels.node\\.kubernetes\\.io/instance-type',
    'ADDRESSES:.status.addresses[*].address',
  ]
  const { stdout } = await showKubectl(sandbox.stage, [
    'get',
    'node',
    'worker-0',
    '-o',
    `custom-columns=${columns.join()}`,
  ])
  check(stdout.includes(scheme), 'eip-admission found the machine, and pods can be scheduled on its node')
  if (routerAnnotation !== undefined) await showRouter(sandbox, routerAnnotation)
}

async function showRouter({ stage }: Sandbox, name: string): Promise<void> {
  const router = `jsonpath={.metadata.annotations.${name.replaceAll('.', '\\.')}}`
  await waitUntil(async () => (await stage.kubectl(['get', 'node', 'worker-0', '-o', router])).stdout !== '')
  const annotation = await showKubectl(stage, ['get', 'node', 'worker-0', '-o', router])
  check(
    /^\d+\.\d+\.\d+\.\d+\b/.test(annotation.stdout),
    'BGP is enabled for the machine, and an annotation names its router',
  )
}

/** Builds the programs of the last steps while the others run. */
function buildRig({ controllerManager, ended }: Sandbox): BackgroundBuild<string | undefined> {
  return buildInBackground('Building kube-controller-manager and MetalLB for the last steps; needed only once', {
    signal: ended,
    async build(options) {
      await controllerManager.ready
      return prepareRig([metallbVersion], options)
    },
  })
}

/** Runs a step as a process of its own: it needs a network namespace, and in it another cluster. */
function runApart(file: string): void {
  const [program = '', ...args] = namespaced([process.execPath, join(import.meta.dirname, file)])
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`The demo failed in ${file}. The error is above.`)
}

function announceSkipped(what: string, reason: string): void {
  printHeading(`Skipped: ${what}`)
  printDetail(`This machine cannot run it: ${reason}`)
}

async function announceToRouters(rig: BackgroundBuild<string | undefined>): Promise<void> {
  const reason = await rig.wait()
  if (reason === undefined) runApart('demo-network.ts')
  else announceSkipped('a real MetalLB announces an address to real routers', reason)
}

function moveControlPlaneAddress(): void {
  const reason = findNamespaceProblem()
  if (reason === undefined) runApart('demo-control-plane.ts')
  else announceSkipped('the address of the API server moves when its machine fails', reason)
}

const steps = [createService, moveAddress, listAddresses, showAddressPools, refuseMistakes, deleteServices, addMachine]

await runSandbox(async (sandbox, interrupted) => {
  try {
    console.log('\nThe Kubernetes API server and eip-admission are real. The provider is simulated.')
    const rig = sandbox.stage.dialect === 'cherry-servers' ? buildRig(sandbox) : undefined
    for (const step of steps) {
      if (interrupted.aborted) throw new Error('The demo was interrupted.')
      await step(sandbox)
    }
    if (rig) {
      await announceToRouters(rig)
      moveControlPlaneAddress()
    }
    printHeading('The demo is complete: every check passed.')
    console.log('Next, try it yourself: `make sandbox` starts the same cluster and prints commands to type.')
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
})
