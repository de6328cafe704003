// A cluster whose product is what helm installed: real controllers make its pods, and a node runs them.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ValueTree } from '../../manifests/choices.ts'
import { type KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type ControlPlane, startControlPlane } from '../../sandbox/control-plane/start.ts'
import { type CloudOf, type DialectName, dialects } from '../../sandbox/dialects.ts'
import { type Administrator, makeAdministrator } from '../../sandbox/rig/administrator.ts'
import { runHelm } from '../../sandbox/run-helm.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { type Kubelet, type KubeletOptions, startKubelet } from './pods/kubelet.ts'

const namespace = 'eip-admission'

/** They turn Deployments and Jobs into pods. */
const controllers = ['deployment-controller', 'replicaset-controller', 'job-controller']

/** The clouds of such a cluster, with a place for addresses. */
const places = { 'cherry-servers': { region: 'LT-Siauliai' }, 'equinix-metal': { metro: 'da' } }

type ChartDialect = DialectName & keyof typeof places

export type ChartOptions<D extends ChartDialect = 'cherry-servers'> = {
  dialect?: D
  /** Controllers of the cluster beside those that every chart needs. */
  controllers?: string[]
  apiServerFlags?: string[]
  kubelet?: KubeletOptions
  /** Pod Security refuses every other pod in the namespace of the chart; `restricted` when absent. */
  podSecurity?: 'restricted' | 'privileged'
}

export type ChartStage<D extends ChartDialect = 'cherry-servers'> = Administrator & {
  controlPlane: ControlPlane
  cloud: CloudOf<D>
  client: KubeClient
  kubelet: Kubelet
  dir: string
  /** The provider's configuration file with all settings, for an installation without values. */
  settingsFile: string
  /** The values that a user sets for this cloud. */
  values: ValueTree
  /** Runs helm on this cluster; `values` go into a file. */
  helm: (args: string[], values?: ValueTree) => Promise<string>
  /** Sends reviews constantly during `act`; returns how many passed and why the others failed. */
  underLoad: (act: () => Promise<void>) => Promise<{ passed: number; failed: string[] }>
  /** The text of the logs of every pod. */
  logText: () => string
}

/** Runs a test on such a cluster and stops everything afterwards; the logs stay when the test fails. */
export async function withChart<D extends ChartDialect = 'cherry-servers'>(
  test: (stage: ChartStage<D>) => Promise<void>,
  options: ChartOptions<D> = {},
): Promise<void> {
  // Without `dialect` the default of `D` applies, which is the same.
  const { dialect = 'cherry-servers' as D, apiServerFlags = [], podSecurity = 'restricted' } = options
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-chart-'))
  const { cloud, project, token } = await openCloud(dialect)
  const wanted = [...controllers, ...(options.controllers ?? [])]
  const controlPlane = await startControlPlane({ dir, controllers: wanted, apiServerFlags })
  const client = connect(kubeconfig({ file: controlPlane.kubeconfig }), { userAgent: 'test', timeoutMs: 30_000 })
  const administrator = makeAdministrator(controlPlane)
  const kubelet = await startKubelet(controlPlane, client, options.kubelet)
  const settings = { 'base-url': cloud.url, ...places[dialect], loadbalancer: 'empty://' }
  const config = JSON.stringify({ apiKey: token, projectID: project })
  try {
    const labels = { 'pod-security.kubernetes.io/enforce': podSecurity }
    await administrator.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
    const secret = ['create', 'secret', 'generic', 'eip-admission-cloud', '-n', namespace]
    await administrator.run([...secret, `--from-literal=cloud-sa.json=${config}`])
    await test({
      ...administrator,
      controlPlane,
      cloud,
      client,
      kubelet,
      dir,
      settingsFile: JSON.stringify({ apiKey: token, projectID: project, ...settings }),
      values: { cloudProvider: dialects[dialect].provider, settings: { ...settings, v: 2 } },
      helm: helmOf(controlPlane),
      underLoad: (act) => reviewWhile(client, act),
      logText: () => [...kubelet.logs].map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join(''),
    })
  } catch (error) {
    console.error(`the logs of a failed test of the chart: ${join(dir, 'logs')}`)
    throw error
  } finally {
    await kubelet.stop()
    await controlPlane.stop()
    await cloud.close()
  }
  rmSync(dir, { recursive: true })
}

async function openCloud<D extends ChartDialect>(dialect: D) {
  const { project, token, cloud } = await dialects[dialect].open()
  // The table has the cloud of each name, but TypeScript only knows that it is one of them.
  return { project, token, cloud: cloud as CloudOf<D> }
}

function helmOf({ dir, kubeconfig: file }: ControlPlane): ChartStage['helm'] {
  const env = { KUBECONFIG: file, HELM_CACHE_HOME: join(dir, 'helm-cache'), HELM_CONFIG_HOME: join(dir, 'helm-config') }
  return async (args, values) => {
    const given = values ? ['--set-json', toSetJson(values)] : []
    return runHelm([...args, '--namespace', namespace, ...given], env)
  }
}

/** The values as one flag. */
function toSetJson(values: ValueTree): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')
}

/** Sends dry runs, which need the webhooks like every create, but buy nothing. */
async function reviewWhile(client: KubeClient, act: () => Promise<void>) {
  const result = { passed: 0, failed: [] as string[] }
  const over = new AbortController()
  const writer = async (n: number) => {
    const service = { ...loadBalancer(`load-${n}`), metadata: { namespace: 'default', name: `load-${n}` } } as Service
    while (!over.signal.aborted) {
      await client.create(services, service, { dryRun: true }).then(
        () => (result.passed += 1),
        (error: unknown) => result.failed.push(String(error)),
      )
      await sleep(50)
    }
  }
  const writers = [writer(1), writer(2)]
  try {
    await act()
  } finally {
    over.abort()
    await Promise.all(writers)
  }
  return result
}
