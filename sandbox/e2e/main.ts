// Kubernetes' own tests of LoadBalancers, on three real nodes with the chart as pods, from a client outside. `make e2e`
// calls it. All of it is in namespaces that end with one process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNodeProblem, removeGroups } from '../cluster/cgroups.ts'
import { machineNames, startCluster } from '../cluster/cluster.ts'
import { groupOf } from '../cluster/node.ts'
import { installProduct } from '../cluster/product.ts'
import { clusterPrograms, imageVariable } from '../cluster/programs.ts'
import { kubernetesVersion } from '../control-plane/build.ts'
import { helmProgram } from '../helm/build.ts'
import { administratorWith } from '../rig/administrator.ts'
import { namespaced } from '../rig/namespace.ts'
import { e2eProgram } from './build.ts'
import { serveNames } from './dns.ts'
import { writeTestImage } from './image.ts'
import { problemsOf } from './judge.ts'
import { runLanes, runOthers, type TestRun } from './run-tests.ts'
import { cannotRunHere, lanes, onOneNode, tests } from './tests.ts'

const testImage = 'agnhost.tar'

/** Builds what is missing, runs the tests in namespaces of their own until their end or Ctrl-C, and removes what they left. */
async function runOutside(): Promise<void> {
  const problem = findNodeProblem()
  if (problem !== undefined) throw new Error(problem)
  await helmProgram()
  await e2eProgram()
  const { images } = await clusterPrograms()
  const [image = ''] = images
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  await writeTestImage(join(dir, testImage)).catch((error) => {
    rmSync(dir, { recursive: true, force: true })
    throw error
  })
  const [program = '', ...args] = namespaced([process.execPath, import.meta.filename, dir], 'root')
  const inside = spawn(program, args, { stdio: 'inherit', env: { ...process.env, [imageVariable]: image } })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => inside.kill('SIGKILL'))
  const [code] = (await once(inside, 'close')) as [number | null]
  for (const name of machineNames) await removeGroups(groupOf({ dir, name }))
  if (code === 1) throw new Error(`Read the logs in ${dir}/logs`)
  rmSync(dir, { recursive: true, force: true })
  if (code !== 0) throw new Error('It ended early')
}

/** Runs the tests in a cluster, and prints each result; throws if one is not as expected. */
async function runInside(dir: string): Promise<void> {
  const programs = await clusterPrograms('hetzner', join(dir, testImage))
  const cluster = await startCluster({ dir, programs })
  for (const node of cluster.nodes) await node.addPodNetwork()
  await serveNames(cluster)
  await installProduct(cluster)
  const { run } = administratorWith(cluster.kubectl)
  await run(['rollout', 'status', 'deployment/eip-admission', '--namespace=eip-admission', '--timeout=600s'])
  console.log(`${tests.length} tests of Kubernetes ${kubernetesVersion}, which take about 12 minutes:`)
  const how: TestRun = {
    cluster,
    program: await e2eProgram(),
    kubectl: join(programs.controlPlane, 'kubectl'),
    onResult: ({ name, state, seconds }) => console.log(`${state.padEnd(8)} ${String(seconds).padStart(4)} s  ${name}`),
  }
  const results = await runLanes(lanes, how)
  await run(['cordon', 'worker-2'])
  results.push(...(await runLanes([onOneNode], how)), ...(await runOthers(tests, how)))
  await cluster.stop()
  for (const [test, reason] of Object.entries(cannotRunHere)) console.log(`cannot run here: ${test}: ${reason}`)
  const problems = problemsOf(results, { tests, cannotRunHere })
  console.log(`${results.filter(({ state }) => state === 'passed').length} of ${tests.length} passed`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

const [dir] = process.argv.slice(2)
try {
  await (dir === undefined ? runOutside() : runInside(dir))
  process.exit(0)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  // The programs that this process started would keep it alive.
  process.exit(1)
}
