// Announcing software as `doctor` sees it in a cluster: its workloads, without running pods.
import { eventually } from '../eventually.ts'
import { loadBalancer } from '../manifests.ts'
import type { TestStage } from '../test-stage.ts'

export type Program = {
  kind: 'Deployment' | 'DaemonSet'
  namespace: string
  name: string
  image: string
  args?: string[]
}

/** Creates the workloads of programs, and their namespaces; none of their pods is ready yet. */
export async function install(stage: Pick<TestStage, 'create' | 'run'>, programs: Program[]): Promise<void> {
  for (const namespace of new Set(programs.map((one) => one.namespace)))
    if ((await stage.run('get', 'namespace', namespace, '--ignore-not-found')) === '')
      await stage.run('create', 'namespace', namespace)
  for (const program of programs) await stage.create(workload(program))
}

/** Reports their pods as ready, as their controllers would. */
export async function becomeReady(stage: Pick<TestStage, 'run'>, programs: Program[]): Promise<void> {
  for (const { kind, namespace, name } of programs) {
    const status =
      kind === 'DaemonSet'
        ? { currentNumberScheduled: 1, desiredNumberScheduled: 1, numberMisscheduled: 0, numberReady: 1 }
        : { replicas: 1, readyReplicas: 1 }
    await stage.run(
      'patch',
      kind.toLowerCase(),
      name,
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    )
  }
}

function workload({ kind, namespace, name, image, args = [] }: Program): object {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name, image, args }] } },
    },
  }
}

export const namespace = 'metallb-system'

/** The two programs of MetalLB. `tag` follows the name of the image. */
export function metallb(tag: string, args: string[] = []): Program[] {
  const of = (name: string, kind: Program['kind']): Program => ({
    kind,
    namespace,
    name,
    image: `quay.io/metallb/${name}${tag}`,
    args,
  })
  return [of('controller', 'Deployment'), of('speaker', 'DaemonSet')]
}

/** kube-vip as its manifests install it, but without settings. */
export function kubeVip(tag: string): Program {
  const name = 'kube-vip'
  return { kind: 'DaemonSet', namespace: 'kube-system', name, image: `ghcr.io/kube-vip/kube-vip${tag}` }
}

/** Creates a Service, and waits until it holds an address that nothing shows. */
export async function hold(
  stage: Pick<TestStage, 'create' | 'record'>,
  name: string,
  loadBalancerClass?: string,
): Promise<string> {
  await stage.create(loadBalancer(name, { spec: { ...(loadBalancerClass !== undefined && { loadBalancerClass }) } }))
  return eventually(`${name} holds an address`, async (observe) => {
    const { status } = observe(await stage.record(name)) ?? {}
    return status?.phase === 'Bound' ? status.address : undefined
  })
}
