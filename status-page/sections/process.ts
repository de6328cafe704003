import type { Cell, Section } from '../section.ts'

export type ProcessFacts = {
  version: string
  identity: string
  cluster: string | undefined
  startedAtMs: number
  residentBytes: number
  /** Absent if the process has no certificate. */
  certificate: { notAfterMs: number | undefined; authorityEndsMs: number | undefined } | undefined
  /** `silentMs`: how long the API server has sent nothing about them. */
  caches: readonly { name: string; objects: number; hasSynced: boolean; silentMs: number }[]
}

/** Less than a third of the shortest usual lifetime, so the renewal is long overdue. */
const soonMs = 24 * 3_600_000

/** The process, its certificates and its caches. */
export function processSection(facts: ProcessFacts, nowMs: number): Section {
  const { version, identity, cluster, startedAtMs, residentBytes, certificate, caches } = facts
  return {
    id: 'process',
    title: 'Process and certificates',
    blocks: [
      {
        kind: 'tiles',
        tiles: [
          { label: 'version', value: { text: version } },
          { label: 'started', value: { atMs: startedAtMs } },
          { label: 'memory', value: { text: `${Math.round(residentBytes / 2 ** 20)} MiB` } },
          ...(certificate
            ? [
                { label: 'certificate ends', value: endOf(certificate.notAfterMs, nowMs) },
                { label: 'CA expires', value: endOf(certificate.authorityEndsMs, nowMs) },
              ]
            : []),
          { label: 'replica', value: { text: identity, code: true } },
          ...(cluster === undefined ? [] : [{ label: 'cluster id', value: { text: cluster, code: true as const } }]),
        ],
      },
      {
        kind: 'table',
        columns: ['cache', 'objects', 'last word'],
        rows: caches.map(({ name, objects, hasSynced, silentMs }) => [
          { text: name },
          { text: hasSynced ? String(objects) : 'not listed yet', ...(!hasSynced && { tone: 'warn' as const }) },
          { text: silence(silentMs), ...(silentMs > 6 * 60_000 && { tone: 'bad' as const }) },
        ]),
        empty: 'No cache.',
      },
    ],
  }
}

function endOf(atMs: number | undefined, nowMs: number): Cell {
  if (atMs === undefined) return { text: 'none yet', tone: 'warn' }
  return { atMs, ...(atMs - nowMs < soonMs && { tone: atMs <= nowMs ? 'bad' : 'warn' }) }
}

function silence(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  return minutes < 1 ? 'within a minute' : `${minutes} min ago`
}
