// The forms in which predecessors run, with the software that announces for them.
import type { KubeObject } from '../../kube/objects.ts'
import { type Predecessor, predecessors } from '../../inspect/predecessors.ts'
import { dialect } from './dialect.ts'

/** The predecessor of the dialect. */
export const predecessor = predecessors.find(({ id }) => id === dialect.name) ?? ({} as Predecessor)

export type Shape = {
  name: string
  kind: 'Deployment' | 'DaemonSet'
  image: string
  leaderElect: boolean
  /** The setting of the announcing software in the Secret. */
  software: string
  /** The announcing software as a workload. */
  program: { kind: 'Deployment' | 'Pod'; namespace: string; name: string; image: string }
  announcer: string
}

const kubeVip = {
  kind: 'Pod',
  namespace: 'kube-system',
  name: 'kube-vip-node-a',
  image: 'ghcr.io/kube-vip/kube-vip:v0.8.9',
} as const
const metallbOf = (version: string) =>
  ({
    kind: 'Deployment',
    namespace: 'metallb-system',
    name: 'controller',
    image: `quay.io/metallb/controller:v${version}`,
  }) as const
const cpem = 'quay.io/equinix-oss/cloud-provider-equinix-metal'

/** The forms, by dialect. */
export const shapes: Record<string, Shape[]> = {
  'equinix-metal': [
    {
      name: 'CPEM 3.8 of the chart, a DaemonSet that elects a leader, with kube-vip as static pods',
      kind: 'DaemonSet',
      image: `${cpem}:v3.8.1`,
      leaderElect: true,
      software: 'kube-vip://',
      program: kubeVip,
      announcer: 'kube-vip',
    },
    {
      name: 'CPEM 3.7 with MetalLB 0.12 by ConfigMap',
      kind: 'Deployment',
      image: `${cpem}:v3.7.0`,
      leaderElect: false,
      software: 'metallb:///metallb-system/config',
      program: metallbOf('0.12.1'),
      announcer: 'metallb',
    },
  ],
  packet: [
    {
      name: "Packet's program with MetalLB 0.11 by ConfigMap",
      kind: 'Deployment',
      image: 'packethost/packet-ccm:v1.1.0',
      leaderElect: false,
      software: 'metallb:///metallb-system/config',
      program: metallbOf('0.11.0'),
      announcer: 'metallb',
    },
  ],
}

/** Its workload. */
export function workloadOf({ kind, image, leaderElect }: Shape): KubeObject {
  const { workload, secret, provider } = predecessor
  const labels = { app: workload.name }
  const command = [`./${workload.name}`, `--cloud-provider=${provider}`, `--leader-elect=${leaderElect}`]
  const file = `--${dialect.name === 'packet' ? 'provider' : 'cloud'}-config=/etc/cloud-sa/cloud-sa.json`
  const template = {
    metadata: { labels },
    spec: {
      nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
      containers: [
        { name: 'ccm', image, command: [...command, file], volumeMounts: [{ name: 'sa', mountPath: '/etc/cloud-sa' }] },
      ],
      volumes: [{ name: 'sa', secret: { secretName: secret.name } }],
    },
  }
  const spec = { ...(kind === 'Deployment' && { replicas: 1 }), selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind, metadata: { ...workload, labels }, spec } as KubeObject
}
