// The objects of an API server, read from its etcd and put back as they were. This also removes objects that the API
// server would keep: those with finalizers, terminating namespaces, and resources without their CRD.
import { setTimeout as sleep } from 'node:timers/promises'

/** The values by key, both in base64. */
export type EtcdState = Record<string, string>

type Range = { kvs?: { key: string; value?: string }[] }
type Operation = { request_delete_range: { key: string } } | { request_put: { key: string; value: string } }

/** Keys that API servers constantly write on their own. */
const ownLeases = /^\/registry\/(leases\/kube-system\/apiserver-|peerserverleases\/|masterleases\/)/

/** A transaction of etcd has at most 128 operations. */
const batchSize = 100

/** Controllers that lag behind may still write from older reads. */
const quietMs = 100

/** Reads everything that the API server of this etcd has stored, without its own leases. */
export async function readState(etcdUrl: string): Promise<EtcdState> {
  const { kvs = [] } = await call<Range>(etcdUrl, 'range', {
    key: encode('/registry/'),
    range_end: encode('/registry0'),
  })
  const stored = kvs.filter(({ key }) => !ownLeases.test(decode(key)))
  return Object.fromEntries(stored.map(({ key, value = '' }) => [key, value]))
}

/** The keys of a state, as text. */
export function keysOf(state: EtcdState): string[] {
  return Object.keys(state).map(decode)
}

/** The keys that differ between two states, as text. */
export function differences(one: EtcdState, other: EtcdState): string[] {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].filter((key) => one[key] !== other[key]).map(decode)
}

/**
 * Restores this state, until etcd keeps it. Returns the keys that were written or removed. Throws with the keys that
 * another writer keeps changing.
 */
export async function restoreState(etcdUrl: string, wanted: EtcdState): Promise<string[]> {
  const changed = new Set<string>()
  for (let attempt = 0; attempt < 50; attempt++) {
    const found = await readState(etcdUrl)
    const operations = planRestore(found, wanted)
    if (operations.length === 0) return [...changed]
    for (const key of differences(found, wanted)) changed.add(key)
    for (let start = 0; start < operations.length; start += batchSize) {
      await call(etcdUrl, 'txn', { success: operations.slice(start, start + batchSize) })
    }
    await sleep(quietMs)
  }
  const found = differences(await readState(etcdUrl), wanted)
  throw new Error(`another program keeps writing to this etcd: ${found.join(', ')}`)
}

function planRestore(found: EtcdState, wanted: EtcdState): Operation[] {
  const removed = Object.keys(found).filter((key) => wanted[key] === undefined)
  const written = Object.entries(wanted).filter(([key, value]) => found[key] !== value)
  return [
    ...removed.map((key) => ({ request_delete_range: { key } })),
    ...written.map(([key, value]) => ({ request_put: { key, value } })),
  ]
}

async function call<T>(etcdUrl: string, method: 'range' | 'txn', body: object): Promise<T> {
  const path = method === 'txn' ? 'kv/txn' : 'kv/range'
  const answer = await fetch(`${etcdUrl}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`etcd answers ${answer.status} to ${path}: ${await answer.text()}`)
  return (await answer.json()) as T
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}
