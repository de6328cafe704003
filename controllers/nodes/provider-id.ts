/** How `spec.providerID` names the machines of a cloud. */
export type ProviderIds = {
  /** The scheme that we write. */
  scheme: string
  /** Schemes that predecessors wrote. */
  older: readonly string[]
  /** What an id looks like: a bare one has nothing else to be known by, and nothing else is asked for. */
  id: RegExp
}

/** What a providerID says: which machine of ours, nothing that can be read, nothing at all, or that it is not our node. */
export type Said = { kind: 'machine'; id: string } | { kind: 'unreadable' } | { kind: 'nothing' } | { kind: 'foreign' }

/** Reads a providerID in any form that we or a predecessor wrote. */
export function readProviderId(providerID: string | undefined, { scheme, older, id }: ProviderIds): Said {
  if (!providerID) return { kind: 'nothing' }
  const [, said, name = ''] = /^(?:([^:/]+):\/\/)?(.*)$/s.exec(providerID) ?? []
  if (said === undefined) return id.test(name) ? { kind: 'machine', id: name } : { kind: 'foreign' }
  if (said !== scheme && !older.includes(said)) return { kind: 'foreign' }
  return id.test(name) ? { kind: 'machine', id: name } : { kind: 'unreadable' }
}

/** The providerID of a machine as we write it. */
export function formatProviderId(id: string, { scheme }: ProviderIds): string {
  return `${scheme}://${id}`
}
