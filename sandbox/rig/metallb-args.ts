import type { MetallbVersion } from '../metallb/build.ts'

export const metallbNamespace = 'metallb-system'

/** How MetalLB is to speak BGP, and which rules its webhooks keep. */
export type MetallbMode = 'native' | 'frr'

export type MetallbPlan = { version: MetallbVersion; kubeconfig: string; webhooks: boolean }

/** Free in a network of one's own; speakers take the ones after it. */
const metricsPort = 7472
const healthPort = 17_472
/** Not ours to choose. */
export const webhookPort = 9443

/** Flags of the controller, and the port that it opens when it runs. */
export function controllerArgs(plan: MetallbPlan): { args: string[]; port: number } {
  const { version, webhooks } = plan
  return {
    args: [
      ...commonArgs(plan, 0),
      // Its certificate is ours: to make one itself it would have to be mounted into a pod.
      ...(isSince(version, '0.13')
        ? [`--webhook-mode=${webhooks ? 'enabled' : 'disabled'}`, '--disable-cert-rotation']
        : []),
      ...(isSince(version, '0.16') ? ['--pod-name=controller'] : []),
    ],
    port: webhooks ? webhookPort : metricsPort,
  }
}

/** The same of the speaker of a node; `n` counts them from 1. */
export function speakerArgs(plan: MetallbPlan, node: string, n: number): { args: string[]; port: number } {
  return {
    args: [
      ...commonArgs(plan, n),
      `--node-name=${node}`,
      ...(isSince(plan.version, '0.14') ? [`--pod-name=speaker-${node}`] : []),
    ],
    port: metricsPort + n,
  }
}

function commonArgs({ version, kubeconfig }: MetallbPlan, n: number): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--namespace=${metallbNamespace}`,
    `--port=${metricsPort + n}`,
    ...(isSince(version, '0.16') ? [`--health-probe-port=${healthPort + n}`] : []),
  ]
}

/** Whether a version has what came with another one, of which no more is said than major and minor. */
export function isSince(version: MetallbVersion, first: string): boolean {
  return version.localeCompare(first, 'en', { numeric: true }) >= 0
}
