// A cluster of three real nodes that runs until Ctrl-C: the chart as pods, a router, and a client outside. `make sandbox
// NODES=3` calls it. All of it is in namespaces that end with one process, so there is nothing to stop.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs, styleText } from 'node:util'
import { helmProgram } from '../helm/build.ts'
import { showProgress } from '../progress.ts'
import { administratorWith } from '../rig/administrator.ts'
import { findBird } from '../rig/bird.ts'
import { namespaced } from '../rig/namespace.ts'
import { findNodeProblem, removeGroups } from './cgroups.ts'
import { type ClusterCloudName, isClusterCloud } from './clouds.ts'
import { type Cluster, machineNames, startCluster } from './cluster.ts'
import { groupOf } from './node.ts'
import { installMetallb, installProduct } from './product.ts'
import { clusterPrograms, imageVariable, webDeployment } from './programs.ts'

const bold = (text: string) => styleText('bold', text)

/** Runs the cluster in namespaces of its own until Ctrl-C or SIGTERM, and removes what it left. */
async function runOutside(cloud: ClusterCloudName): Promise<void> {
  const problem = findNodeProblem()
  if (problem !== undefined) throw new Error(problem)
  let inside: ChildProcess | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (inside) inside.kill('SIGKILL')
      else process.exit()
    })
  await helmProgram()
  if (cloud === 'cherry-servers') await findBird()
  const { controlPlane, images } = await clusterPrograms(cloud)
  const [image = ''] = images
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  const command = namespaced([process.execPath, import.meta.filename, '--cloud', cloud, '--dir', dir], 'root')
  inside = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, [imageVariable]: image },
    // Otherwise Ctrl-C would also end a kubectl inside, which would then report a failure.
    detached: true,
  })
  if (inside.stdin) process.stdin.pipe(inside.stdin)
  writeScripts(dir, controlPlane, inside.pid ?? -1)
  await once(inside, 'close')
  process.stdin.destroy()
  for (const name of machineNames) await removeGroups(groupOf({ dir, name }))
  if (!inside.killed) throw new Error(`Read the logs in ${dir}`)
  rmSync(dir, { recursive: true, force: true })
}

/** Writes commands for other terminals, which enter the namespaces. */
function writeScripts(dir: string, controlPlane: string, pid: number): void {
  const enter = `exec nsenter --target=${pid} --net`
  const scripts = {
    kubectl: `${enter} ${join(controlPlane, 'kubectl')} "$@"`,
    client: `${enter} --mount ip netns exec client "$@"`,
    router: `export CURL_CA_BUNDLE=${dir}/ca.crt NODE_EXTRA_CA_CERTS=${dir}/ca.crt\n${enter} "$@"`,
  }
  mkdirSync(join(dir, 'bin'))
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(dir, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
}

/** Starts everything, prints what to type, and switches nodes off and on as people type it here. */
async function runInside(cloudName: ClusterCloudName, dir: string): Promise<void> {
  const programs = await clusterPrograms(cloudName)
  const progress = showProgress('Starting three nodes')
  const cluster = await startCluster({ dir, programs, cloudName, onStep: (step) => progress.update(step) })
  for (const node of cluster.nodes) await node.addPodNetwork()
  progress.update('installing the chart')
  const waits = [['eip-admission', 'deployment/eip-admission']]
  if (cloudName === 'cherry-servers') {
    await installMetallb(cluster)
    waits.push(['metallb-system', 'deployment/controller'], ['metallb-system', 'daemonset/speaker'])
  }
  await installProduct(cluster)
  const { apply, run } = administratorWith(cluster.kubectl)
  await apply(webDeployment('web', { replicas: 2, spec: { affinity: apartFrom('web') } }))
  for (const [namespace, name = ''] of [...waits, ['default', 'deployment/web']]) {
    progress.update(`waiting for the pods of ${name}`)
    await run(['rollout', 'status', name, `--namespace=${namespace}`, '--timeout=600s'])
  }
  progress.done('ready')
  console.log(stepsText(cluster))
  createInterface({ input: process.stdin }).on('line', (line) => void switchPower(cluster, line))
}

/** Each worker gets one of the pods, so that either worker may lose its power. */
function apartFrom(app: string): object {
  const term = { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' }
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
}

function stepsText({ dir, kubeconfig, cloud }: Cluster): string {
  const steps: [title: string, ...commands: string[]][] = [
    [
      'Open another terminal as root and select this cluster',
      `export KUBECONFIG=${kubeconfig}`,
      `export PATH=${dir}/bin:$PATH`,
    ],
    ['See the pods', 'kubectl get pods --all-namespaces --output=wide'],
    [
      'Create a Service. kubectl prints its address',
      `kubectl expose deployment web --type=LoadBalancer --port=80 --target-port=8080 -o jsonpath='{.spec.loadBalancerIP}{"\\n"}'`,
    ],
    [
      'Ask that address as a client outside of the cluster. A pod answers with its name',
      `client curl --max-time 2 --retry 9 --retry-all-errors http://$(kubectl get service web -o jsonpath='{.spec.loadBalancerIP}')/hostname; echo`,
    ],
    ['Let it check the cluster and the provider', 'router ./bin/eip-admission doctor'],
    ['Let a node lose its power. Type this here, and ask again there', 'off worker-1'],
    ['Let it come back', 'on worker-1'],
  ]
  const list = steps.map(([title, ...commands], n) => `${bold(`${n + 1}. ${title}:`)}\n\n  ${commands.join('\n  ')}\n`)
  return `
${list.join('\n')}
${bold('The simulated cloud')} serves ${cloud.url}. Control it with curl:
  router curl ${cloud.controlUrl}
${bold('The logs')} are in ${dir}/logs and ${dir}/${machineNames[0]}/logs, and so on

Press Ctrl-C to stop everything and to remove its files.`
}

async function switchPower({ nodes }: Cluster, line: string): Promise<void> {
  const [to, name] = line.trim().split(/\s+/)
  const node = nodes.find((one) => one.name === name)
  if (!node || (to !== 'on' && to !== 'off')) {
    console.log(`Type off or on, and one of ${machineNames.join(', ')}`)
    return
  }
  await (to === 'on' ? node.powerOn() : node.powerOff())
  console.log(`${node.name} is ${to}`)
}

try {
  const { cloud, nodes, dir } = parseArgs({
    options: {
      cloud: { type: 'string', default: 'cherry-servers' },
      nodes: { type: 'string', default: '3' },
      dir: { type: 'string' },
    },
  }).values
  if (nodes !== '3') throw new Error(`nodes "${nodes}": expected 3`)
  if (!isClusterCloud(cloud)) throw new Error(`cloud "${cloud}": with nodes expected cherry-servers or hetzner`)
  await (dir === undefined ? runOutside(cloud) : runInside(cloud, dir))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  // The programs that this process started would keep it alive.
  process.exit(1)
}
