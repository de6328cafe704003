import type { LabelSelector } from '../lib/label-selector.ts'
import { listAll } from './list-all.ts'
import type { Condition, KubeObject } from './objects.ts'
import { resourcesOf } from './resource.ts'

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

type Items = { name?: string; items?: { key: string; path: string }[] }

export type Volume = {
  name: string
  secret?: Items & { secretName?: string }
  configMap?: Items
  hostPath?: { path: string }
  projected?: { sources?: { secret?: Items; configMap?: Items }[] }
}

/** A Deployment, a DaemonSet or a static pod, with everything that configures its program. */
export type Workload = KubeObject & {
  spec?: {
    replicas?: number
    selector?: LabelSelector
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
  }
}

export type Pod = KubeObject & {
  spec?: { containers?: Container[]; nodeName?: string; hostNetwork?: boolean }
  status?: {
    phase?: string
    conditions?: Pick<Condition, 'type' | 'status'>[]
    containerStatuses?: { state?: { waiting?: { reason?: string; message?: string } } }[]
  }
}

export const pods = resourcesOf('v1').inNamespaces<Pod>('Pod')
const apps = resourcesOf('apps/v1')
export const deployments = apps.inNamespaces<Workload>('Deployment')
export const daemonSets = apps.inNamespaces<Workload>('DaemonSet')

/** Every Deployment and DaemonSet. */
export async function listWorkloads(
  client: Parameters<typeof listAll>[0],
  options?: { signal: AbortSignal },
): Promise<Workload[]> {
  const lists = await Promise.all([deployments, daemonSets].map((kind) => listAll(client, kind, options)))
  return lists.flat()
}

/** The containers of a workload's pods. */
export function containersIn({ spec }: Pick<Workload, 'spec'>): Container[] {
  return spec?.template?.spec?.containers ?? []
}

/** Whether a workload has a pod, or should have one. */
export function isRunning({ kind, spec = {}, status = {} }: Workload): boolean {
  const { replicas = 0, currentNumberScheduled = 0, desiredNumberScheduled = 0 } = status
  const wanted = kind === 'DaemonSet' ? desiredNumberScheduled : (spec.replicas ?? 1)
  return wanted + replicas + currentNumberScheduled > 0
}
