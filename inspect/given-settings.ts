import { isForbidden } from '../kube/errors.ts'
import { configMaps, secrets } from '../kube/resource.ts'
import type { EnvFrom, EnvVar, Workload } from '../kube/workloads.ts'
import type { FoundWorkload } from './find-predecessors.ts'
import type { Reader } from './reader.ts'

/** A Secret or a ConfigMap, and a key in it. */
export type KeyedRef = { kind: 'Secret' | 'ConfigMap'; namespace: string; name: string; key: string }

/** A Secret or ConfigMap and its key, for people. */
export function refText({ kind, namespace, name, key }: KeyedRef): string {
  return `${kind} ${namespace}/${name} (${key})`
}

/** The data of a Secret or ConfigMap as text; undefined if it does not exist. */
export type ReadData = (at: Omit<KeyedRef, 'key'>) => Promise<Record<string, string> | undefined>

/** Reads the data of Secrets and ConfigMaps as text. */
export function dataReader(reader: Reader): ReadData {
  return async ({ kind, namespace, name }) => {
    if (kind === 'ConfigMap') {
      const found = await reader.get(configMaps, { namespace, name })
      return found && (found.data ?? {})
    }
    const found = await reader.get(secrets, { namespace, name })
    const entries = Object.entries(found?.data ?? {})
    return found && Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
  }
}

/** A variable of a program's environment. `isSecret`: it comes from a Secret, so that it is never printed. */
export type GivenVariable = { name: string; value: string; isSecret: boolean }

/** A program's settings, as its pods have them. */
export type GivenSettings = {
  flags: Record<string, string>
  /** The flags whose values have a part from a Secret. */
  secretFlags: readonly string[]
  env: GivenVariable[]
  /** Its configuration file, if it has one. `text` may hold secrets. */
  file: { ref: KeyedRef; text: string } | undefined
  /** The unread sources, with the reason. */
  unread: { where: string; what: string; isForbidden?: true }[]
}

type Settled = Pick<FoundWorkload, 'object' | 'container'>

/**
 * Reads a program's settings: the flags of its container, its environment, and its configuration file. A flag of
 * `repeated` keeps the values of all repetitions; for any other flag, the last one takes effect.
 */
export async function readGivenSettings(
  found: Settled,
  readData: ReadData,
  repeated: ReadonlySet<string> = new Set(),
): Promise<GivenSettings> {
  const { container, object } = found
  const unread: GivenSettings['unread'] = []
  const namespace = object.metadata.namespace ?? ''
  const env = await readEnvironment(container, { namespace, readData, unread })
  const words = [...(container.command ?? []), ...(container.args ?? [])]
  const raw = Object.entries(flagsIn(words, repeated)).map(([flag, value]) => ({ flag, ...expand(value, env) }))
  const flags = Object.fromEntries(raw.map(({ flag, text }) => [flag, text]))
  const secretFlags = raw.filter(({ isSecret }) => isSecret).map(({ flag }) => flag)
  const path = flags['--cloud-config'] ?? flags['--provider-config']
  const file = path === undefined ? undefined : await readFile(found, path, { readData, unread })
  return { flags, secretFlags, env, file, unread }
}

/** Whether a flag is set to false, as Go reads it. */
export function isFalse(text: string | undefined): boolean {
  return text !== undefined && /^(0|f|false)$/i.test(text)
}

type Reading = { readData: ReadData; unread: GivenSettings['unread'] }

async function readEnvironment(
  { env = [], envFrom = [] }: { env?: EnvVar[]; envFrom?: EnvFrom[] },
  { namespace, ...reading }: Reading & { namespace: string },
): Promise<GivenVariable[]> {
  const variables = new Map<string, GivenVariable>()
  for (const source of envFrom)
    for (const one of await variablesFrom(source, { namespace, ...reading })) variables.set(one.name, one)
  for (const one of env) {
    const given = await variableOf(one, { namespace, ...reading })
    if (given) variables.set(given.name, given)
  }
  return [...variables.values()]
}

async function variablesFrom(
  { prefix = '', secretRef, configMapRef }: EnvFrom,
  { namespace, readData, unread }: Reading & { namespace: string },
): Promise<GivenVariable[]> {
  const kind = secretRef ? 'Secret' : 'ConfigMap'
  const name = (secretRef ?? configMapRef)?.name ?? ''
  const data = await tryRead(readData, { kind, namespace, name }, unread)
  return Object.entries(data ?? {}).map(([key, value]) => ({
    name: `${prefix}${key}`,
    value,
    isSecret: secretRef !== undefined,
  }))
}

async function variableOf(
  { name, value, valueFrom }: EnvVar,
  { namespace, readData, unread }: Reading & { namespace: string },
): Promise<GivenVariable | undefined> {
  if (!valueFrom) return { name, value: value ?? '', isSecret: false }
  const { secretKeyRef, configMapKeyRef } = valueFrom
  const ref = secretKeyRef ?? configMapKeyRef
  // A field reference, such as the node's name or the host's address, is never a setting.
  if (!ref) return undefined
  const kind = secretKeyRef ? 'Secret' : 'ConfigMap'
  const data = await tryRead(readData, { kind, namespace, name: ref.name ?? '' }, ref.optional ? undefined : unread)
  const text = data?.[ref.key]
  return text === undefined ? undefined : { name, value: text, isSecret: kind === 'Secret' }
}

async function tryRead(
  readData: ReadData,
  at: Omit<KeyedRef, 'key'>,
  unread: GivenSettings['unread'] | undefined,
): Promise<Record<string, string> | undefined> {
  const where = `${at.kind} ${at.namespace}/${at.name}`
  try {
    const data = await readData(at)
    if (!data) unread?.push({ where, what: 'does not exist' })
    return data
  } catch (error) {
    const what = `cannot be read: ${error instanceof Error ? error.message : String(error)}`
    unread?.push({ where, what, ...(isForbidden(error) && { isForbidden: true }) })
    return undefined
  }
}

/** Kubernetes replaces `$(NAME)` in a container's arguments with the variable, if there is one. */
function expand(word: string, env: readonly GivenVariable[]): { text: string; isSecret: boolean } {
  let isSecret = false
  const text = word.replace(/\$\(([^)]+)\)/g, (whole, name) => {
    const found = env.find((one) => one.name === name)
    isSecret ||= found?.isSecret === true
    return found?.value ?? whole
  })
  return { text, isSecret }
}

/**
 * The flags among a container's arguments. A flag without a value is true, as in Go; the value may be the next word.
 */
export function flagsIn(words: readonly string[], repeated: ReadonlySet<string>): Record<string, string> {
  const flags: Record<string, string> = {}
  words.forEach((word, n) => {
    const [, dashes, name, value] = /^(--?)([\w-]+)(?:=(.*))?$/s.exec(word) ?? []
    if (dashes === undefined || name === undefined) return
    const next = words[n + 1]
    const isAlone = value === undefined && (next === undefined || next.startsWith('-'))
    const flag = `--${name}`
    const given = value ?? (isAlone ? 'true' : (next ?? 'true'))
    const before = repeated.has(flag) ? flags[flag] : undefined
    flags[flag] = before === undefined ? given : `${before},${given}`
  })
  return flags
}

async function readFile(
  { object, container }: Settled,
  path: string,
  { readData, unread }: Reading,
): Promise<GivenSettings['file']> {
  const ref = fileRef(object, container.volumeMounts ?? [], path)
  if (!ref) {
    unread.push({ where: `file ${path}`, what: 'is not mounted from a Secret or a ConfigMap' })
    return undefined
  }
  const data = await tryRead(readData, ref, unread)
  const text = data?.[ref.key]
  if (data && text === undefined)
    unread.push({ where: `${ref.kind} ${ref.namespace}/${ref.name}`, what: `has no key ${ref.key}` })
  return text === undefined ? undefined : { ref, text }
}

/** The Secret or ConfigMap that is mounted at a path, and the key of that file. */
function fileRef(
  object: Workload,
  mounts: readonly { name: string; mountPath: string; subPath?: string }[],
  path: string,
): KeyedRef | undefined {
  const fits = mounts
    .map((mount) => ({ ...mount, root: mount.mountPath.replace(/\/+$/, '') }))
    .filter(({ root }) => path === root || path.startsWith(`${root}/`))
    .toSorted((one, other) => other.root.length - one.root.length)
  const [mount] = fits
  const volume = object.spec?.template?.spec?.volumes?.find(({ name }) => name === mount?.name)
  if (!mount || !volume) return undefined
  const inside = mount.subPath ?? path.slice(mount.root.length + 1)
  const namespace = object.metadata.namespace ?? ''
  const sources = [
    ...(volume.secret ? [{ kind: 'Secret' as const, ...volume.secret, name: volume.secret.secretName }] : []),
    ...(volume.configMap ? [{ kind: 'ConfigMap' as const, ...volume.configMap }] : []),
    ...(volume.projected?.sources ?? []).flatMap(({ secret, configMap }) => [
      ...(secret ? [{ kind: 'Secret' as const, ...secret }] : []),
      ...(configMap ? [{ kind: 'ConfigMap' as const, ...configMap }] : []),
    ]),
  ]
  for (const { kind, name, items } of sources) {
    const key = items ? items.find((item) => item.path === inside)?.key : inside
    if (name !== undefined && key !== undefined) return { kind, namespace, name, key }
  }
  return undefined
}
