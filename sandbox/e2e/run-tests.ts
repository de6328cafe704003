import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../cluster/cluster.ts'
import { type Result, resultOf } from './judge.ts'
import type { Lane } from './tests.ts'

export type TestRun = {
  cluster: Cluster
  /** The program of the tests, and the kubectl that they call. */
  program: string
  kubectl: string
  onResult: (result: Result) => void
}

/** Runs the tests of each lane in a row, and the lanes side by side. */
export async function runLanes(lanes: Lane[], run: TestRun): Promise<Result[]> {
  const results = lanes.map(({ tests, minutes }) =>
    runProgram([`--ginkgo.focus=${feature}.*${oneOf(tests)}`, `--ginkgo.timeout=${minutes}m`], run),
  )
  return (await Promise.all(results)).flat()
}

/** Runs all other tests, such as those that a new version of Kubernetes adds. */
export function runOthers(tests: readonly string[], run: TestRun): Promise<Result[]> {
  return runProgram([`--ginkgo.focus=${feature}`, `--ginkgo.skip=${oneOf(tests)}`], run)
}

const feature = String.raw`\[Feature:LoadBalancer\]`
const oneOf = (names: readonly string[]) => `(${names.join('|')})`
let runs = 0

async function runProgram(choice: string[], run: TestRun): Promise<Result[]> {
  const { cluster, program, kubectl, onResult } = run
  const { dir, kubeconfig } = cluster
  const results: Result[] = []
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${kubectl}`,
    '--provider=skeleton',
    '--allowed-not-ready-nodes=0',
    '--minStartupPods=0',
    '--ginkgo.no-color',
    '--ginkgo.v',
  ]
  runs += 1
  const logFile = join(dir, 'logs', `e2e-${runs}.log`)
  await cluster.atClient([program, ...flags, ...choice], {
    logFile,
    env: { ...process.env, KUBECACHEDIR: join(dir, 'kubectl-cache') },
    onLine(line) {
      appendFileSync(logFile, `${line}\n`)
      const result = resultOf(line)
      if (!result) return
      results.push(result)
      onResult(result)
    },
  })
  return results
}
