import type { MetallbVersion } from '../metallb/build.ts'

export const metallbNamespace = 'metallb-system'

/** How MetalLB speaks BGP, and by which rules its webhooks validate. */
export type MetallbMode = 'native' | 'frr'

export type MetallbPlan = { version: MetallbVersion; kubeconfig: string; webhooks: boolean }

/**
 * The controller's ports; speakers use the following ones. They are outside the range from which the sandbox chooses
 * ports.
 */
const metricsPort = 7472
const healthPort = 8472
/** MetalLB has no flag for this port. */
export const webhookPort = 9443

/** Returns the flags of the controller, and the port that is open when it runs. */
export function controllerArgs(plan: MetallbPlan): { args: string[]; port: number } {
  const { version, webhooks } = plan
  return {
    args: [
      ...commonArgs(plan, 0),
      // We provide the certificate: MetalLB can rotate its own only with a volume in a pod.
      ...(isSince(version, '0.13')
        ? [`--webhook-mode=${webhooks ? 'enabled' : 'disabled'}`, '--disable-cert-rotation']
        : []),
      ...(isSince(version, '0.16') ? ['--pod-name=controller'] : []),
    ],
    port: webhooks ? webhookPort : metricsPort,
  }
}

/** Returns the same for the speaker of a node; `n` counts speakers from 1. */
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

/** Whether a version is at least another one, which is given as major and minor. */
export function isSince(version: MetallbVersion, first: string): boolean {
  return version.localeCompare(first, 'en', { numeric: true }) >= 0
}
