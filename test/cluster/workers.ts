// A cluster whose product runs on the two workers, which may lose power or their network: the API server does not.
import { installProduct } from '../../sandbox/cluster/product.ts'
import { eventually } from '../whole/eventually.ts'
import { boot, type Booted } from './booted.ts'

export const workers = ['worker-1', 'worker-2']

export type WorkerCluster = Booted & {
  /** The replica that leads, as its lease says. */
  leader: () => Promise<string>
  /** The node on which that replica runs. */
  leadingNode: () => Promise<string>
  /** Waits until each worker has a replica that is ready. */
  bothReady: () => Promise<void>
  /** Waits until the pods of a Deployment are ready. */
  isReady: (deployment: string) => Promise<string>
}

const onWorkers = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: workers }] }
const values = {
  hostNetwork: true,
  webhooks: { failurePolicy: 'Fail' },
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [onWorkers] } } },
}

/** The name of the other worker. */
export const otherWorker = (name: string) => workers.find((one) => one !== name) ?? ''

/** The part of a pod that keeps it on a node. */
export const onNode = (name: string) => ({ spec: { nodeSelector: { 'kubernetes.io/hostname': name } } })

/** Starts the cluster, and installs the product on its workers. */
export async function bootWorkers(): Promise<WorkerCluster> {
  const cluster = await boot()
  const { nodes, run } = cluster
  for (const node of nodes) await node.addPodNetwork()
  // As installers label it.
  await run(['label', 'node', 'control-1', 'node.kubernetes.io/exclude-from-external-load-balancers='])
  await installProduct(cluster, values)
  const lease = ['-n', 'kube-system', 'get', 'lease', 'cloud-controller-manager']
  const leader = () => run([...lease, '-o', 'jsonpath={.spec.holderIdentity}'])
  const deployment = ['-n', 'eip-admission', 'get', 'deployment', 'eip-admission']
  return {
    ...cluster,
    leader,
    leadingNode: async () => (await leader()).split('_')[0] ?? '',
    isReady: (name) => run(['rollout', 'status', `deployment/${name}`, '--timeout=300s']),
    bothReady: () =>
      eventually('both workers have a replica', async () => {
        const ready = await run([...deployment, '-o', 'jsonpath={.status.readyReplicas}'])
        return ready === '2' || undefined
      }).then(() => {}),
  }
}
