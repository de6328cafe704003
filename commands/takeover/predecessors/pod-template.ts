import type { KubeObject } from '../../../kube/objects.ts'

type KeyRef = { name?: string; key: string; optional?: boolean }

export type EnvVar = {
  name: string
  value?: string
  valueFrom?: { secretKeyRef?: KeyRef; configMapKeyRef?: KeyRef; fieldRef?: object; resourceFieldRef?: object }
}

export type EnvFrom = { prefix?: string; secretRef?: { name?: string }; configMapRef?: { name?: string } }

export type Container = {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  env?: EnvVar[]
  envFrom?: EnvFrom[]
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[]
}

type Items = { items?: { key: string; path: string }[] }

export type Volume = {
  name: string
  secret?: Items & { secretName?: string }
  configMap?: Items & { name?: string }
  hostPath?: { path: string }
  projected?: { sources?: { secret?: Items & { name?: string }; configMap?: Items & { name?: string } }[] }
}

/** A Deployment, DaemonSet or pod, with everything that says how its program is set. */
export type ProgramObject = KubeObject & {
  spec?: {
    replicas?: number
    selector?: { matchLabels?: Record<string, string> }
    /** Of a pod itself. */
    containers?: Container[]
    template?: {
      spec?: { containers?: Container[]; volumes?: Volume[]; nodeSelector?: Record<string, string> }
    }
  }
  status?: {
    replicas?: number
    readyReplicas?: number
    desiredNumberScheduled?: number
    currentNumberScheduled?: number
    numberReady?: number
    phase?: string
  }
}
