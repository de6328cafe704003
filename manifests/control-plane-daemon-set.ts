import type { Choices } from './choices.ts'
import { names, stoppedLabel } from '../settings/installed-names.ts'
import { cloudArgs, cloudMount, cloudVolume, imageOf, podFact, podFacts, probes, sharedSpec } from './pod.ts'

const labels = { 'app.kubernetes.io/name': names.guardian }

/**
 * The process on every control-plane node that moves the control-plane address. It talks to the API server of its own
 * node: the address that it moves may lead nowhere at that moment.
 */
export function controlPlaneDaemonSet(choices: Choices): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: names.guardian, namespace: choices.release.namespace },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: {
        metadata: { labels: { ...labels, 'app.kubernetes.io/instance': choices.release.name } },
        spec: {
          ...sharedSpec(choices, names.guardian),
          priorityClassName: 'system-node-critical',
          hostNetwork: true,
          dnsPolicy: 'Default',
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onControlPlane } },
          // A takeover installs the chart while the predecessor still moves the address.
          nodeSelector: choices.when({ value: 'replicas', is: 0 }, { [stoppedLabel]: 'true' }),
          // The address must have a holder, whatever is wrong with the nodes.
          tolerations: [{ operator: 'Exists' }],
          containers: [container(choices)],
          volumes: [cloudVolume(choices), ...choices.items('extraVolumes')],
        },
      },
    },
  }
}

const onControlPlane = {
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }] }],
}

function container(choices: Choices): object {
  const { block, flags, items, scalar, text } = choices
  return {
    name: names.guardian,
    ...imageOf(choices),
    args: [
      'serve',
      '--only=control-plane',
      ...cloudArgs(choices),
      ...flags('settings'),
      // The Deployment may use the host's ports too.
      `--secure-port=${text('controlPlane.securePort')}`,
      // The last of two flags counts: the API server of the Deployment may be at the address that the guardian moves.
      `--api-server=https://$(HOST_IP):${text('controlPlane.apiServerPort')}`,
    ],
    env: [
      ...podFacts,
      podFact('NODE_NAME', 'spec.nodeName'),
      podFact('HOST_IP', 'status.hostIP'),
      ...items('extraEnv'),
    ],
    envFrom: block('extraEnvFrom'),
    ports: [{ name: 'health', containerPort: scalar('controlPlane.securePort'), protocol: 'TCP' }],
    // It has no certificate: only the kubelet and Prometheus call it.
    ...probes('HTTP'),
    resources: block('controlPlane.resources'),
    securityContext: block('securityContext'),
    volumeMounts: [cloudMount(choices), ...items('extraVolumeMounts')],
  }
}
