import type { ProviderIds } from '../../clouds/ports/machines.ts'

/** The meaning of a providerID: a machine of our provider, an invalid id of ours, nothing, or another provider. */
export type ProviderId =
  { kind: 'machine'; id: string } | { kind: 'invalid' } | { kind: 'absent' } | { kind: 'foreign' }

/** Reads a providerID in any form that we or a predecessor wrote. Lists of machines have every id in lower case. */
export function readProviderId(providerID: string | undefined, ids: ProviderIds): ProviderId {
  const { scheme, older, path = '', id, neighbours } = ids
  if (!providerID) return { kind: 'absent' }
  if (neighbours?.test(providerID)) return { kind: 'foreign' }
  const [, prefix, name = ''] = /^(?:([^:/]+):\/\/)?(.*)$/s.exec(providerID) ?? []
  if (prefix === undefined) return id.test(name) ? machine(name) : { kind: 'foreign' }
  if (prefix !== scheme && !older.includes(prefix)) return { kind: 'foreign' }
  if (!name.startsWith(path)) return { kind: 'foreign' }
  const inPath = name.slice(path.length)
  return id.test(inPath) ? machine(inPath) : { kind: 'invalid' }
}

function machine(id: string): ProviderId {
  return { kind: 'machine', id: id.toLowerCase() }
}

/** The providerID that we write for a machine. */
export function formatProviderId(id: string, { scheme, path = '' }: ProviderIds): string {
  return `${scheme}://${path}${id}`
}
