import { defineResource } from '../../../kube/resource.ts'
import type { KubeObject } from '../../../kube/objects.ts'

export type EnvironmentVariable = {
  name: string
  value?: string
  valueFrom?: { fieldRef: { fieldPath: string } }
}

export type Volume = { name: string; secret?: { secretName: string; optional?: boolean } }

export type Container = {
  name: string
  args: string[]
  env?: EnvironmentVariable[]
  /** On the host network the API server also sets `hostPort`. */
  ports?: { name: string; containerPort: number; hostPort?: number }[]
  readinessProbe?: { httpGet: { path: string; port: string }; timeoutSeconds?: number; failureThreshold?: number }
  volumeMounts?: { name: string; mountPath: string }[]
}

export type Toleration = {
  key?: string
  operator?: 'Exists' | 'Equal'
  value?: string
  effect?: string
  tolerationSeconds?: number
}

/** A pod, as far as a node reads and writes it. */
export type Pod = KubeObject & {
  kind: 'Pod'
  spec: {
    nodeName?: string
    serviceAccountName: string
    restartPolicy: 'Always' | 'Never'
    hostNetwork?: boolean
    nodeSelector?: Record<string, string>
    tolerations?: Toleration[]
    containers: Container[]
    volumes?: Volume[]
  }
  status?: { phase?: string; podIP?: string; conditions?: { type: string; status: string }[] }
}

export const pods = defineResource<Pod>({ apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true })
