import type { KubeClient } from '../kube/client.ts'
import { configMaps } from '../kube/resource.ts'
import type { Workload } from '../inspect/facts.ts'
import { common } from '../settings/common.ts'
import { type Container, containerOf, flagOf } from './installation.ts'
import { type Readable, readable, valueOf } from './reader.ts'

/** What the ConfigMaps hold that set the environment of the process, by their names. */
export type Environments = ReadonlyMap<string, Record<string, string>>

/** Reads the ConfigMaps from which the process has its environment. Nobody has to read a Secret for this. */
export async function readEnvironments(
  client: Pick<KubeClient, 'get'>,
  read: Readable<Workload[]>,
): Promise<Environments> {
  const [workload] = valueOf(read) ?? []
  const { env = [], envFrom = [] } = (workload && containerOf([workload])) ?? {}
  const names = [
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
  ].filter((name) => name !== undefined)
  const { namespace = '' } = workload?.metadata ?? {}
  const entries = await Promise.all(
    [...new Set(names)].map(async (name) => {
      const found = await readable('', client.get(configMaps, { namespace, name }))
      return [name, valueOf(found)?.data] as const
    }),
  )
  return new Map(entries.flatMap(([name, data]) => (data ? [[name, data] as const] : [])))
}

/** The limits of addresses, as the Deployment says. A configuration file of the cloud sets none. */
export function limitsText(read: Readable<Workload[]>, environments: Environments): string {
  if ('missing' in read) return `unknown: you may not ${read.missing}`
  const container = containerOf(read.value)
  if (!container) return 'unknown: eip-admission runs outside of the cluster'
  const of = (setting: Limit) => limitOf(setting, container, environments)
  return `${of(common.maxAddresses)} in the cluster, ${of(common.maxAddressesPerNamespace)} in a namespace`
}

type Limit = { flag: string; env: string; default: string }

function limitOf(limit: Limit, container: Container, environments: Environments): string {
  const entry = container.env?.findLast(({ name }) => name === limit.env)
  const ofEnv = entry && (entry.value ?? referredValue(entry.valueFrom, environments))
  return flagOf(limit.flag, container) ?? ofEnv ?? wholeSourcesValue(limit, container, environments)
}

type ValueFrom = NonNullable<Container['env']>[number]['valueFrom']

function referredValue(from: ValueFrom, environments: Environments): string {
  const { configMapKeyRef: map, secretKeyRef: secret } = from ?? {}
  if (secret) return `what Secret ${secret.name} says`
  const { name = '', key = '' } = map ?? {}
  return environments.get(name)?.[key] ?? `what ConfigMap ${name} says, which cannot be read`
}

/** The value from sources that set many variables. Of several the last one counts; what a Secret holds is not read. */
function wholeSourcesValue({ env, default: standard }: Limit, { envFrom = [] }: Container, all: Environments): string {
  let value = standard
  let secrets: string[] = []
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    if (secretRef?.name !== undefined) secrets.push(secretRef.name)
    const found = env.startsWith(prefix) ? all.get(configMapRef?.name ?? '')?.[env.slice(prefix.length)] : undefined
    if (found === undefined) continue
    value = found
    secrets = []
  }
  return secrets.length === 0 ? value : `${value} (or what Secret ${secrets.join(' or ')} says)`
}
