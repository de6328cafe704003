import type { Choices } from './choices.ts'
import { names } from '../settings/installed-names.ts'
import { servePod } from './pod.ts'

const selector = { matchLabels: { 'app.kubernetes.io/name': 'eip-admission' } }

/** The Deployment that answers reviews and runs the controllers. */
export function deployment(choices: Choices): object {
  const { either, release, scalar } = choices
  const onHost = { value: 'hostNetwork' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: names.deployment, namespace: release.namespace },
    spec: {
      replicas: scalar('replicas'),
      revisionHistoryLimit: 3,
      strategy: {
        type: 'RollingUpdate',
        // On the host network a new pod needs the ports of an old one: one of the others answers meanwhile.
        rollingUpdate: { maxSurge: either(onHost, 0, 1), maxUnavailable: either(onHost, 1, 0) },
      },
      selector,
      template: servePod(choices),
    },
  }
}

/** Keeps a replica while nodes are drained. */
export function podDisruptionBudget({ release, scalar }: Choices): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: names.deployment, namespace: release.namespace },
    spec: {
      maxUnavailable: scalar('podDisruptionBudget.maxUnavailable'),
      // A replica that answers nothing protects nothing: it must not block the drain of its node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector,
    },
  }
}
