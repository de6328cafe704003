import type { ObjectConfiguration } from '../../announcers/announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'

/** The deleted Nodes with machines from which the network may still learn addresses. */
export type LingeringNodes = {
  /**
   * Notes which nodes of our objects do not exist. Returns the objects that must stay, because only they name such a
   * node.
   */
  look: (existing: readonly KubeObject[], hasNode: (name: string) => boolean) => KubeObject[]
  /** Why the network may still learn an address that we no longer announce; undefined if it cannot. */
  find: (address: string) => { services: never[]; waitMs?: number; reason?: string } | undefined
  /** Notes that an address is announced, so nodes that are deleted from now on may know it. */
  announced: (address: string) => void
  /** Forgets what may have changed while another process led. */
  forget: () => void
}

/** How soon we check again whether a deleted Node exists again: its software then follows our configuration again. */
const pollMs = 15_000

/**
 * Measures from our own first sight of each deletion. An address waits only for nodes deleted before its withdrawal,
 * because nodes deleted later have withdrawn it.
 */
export function lingeringNodes(
  { forMs, nodeOf }: NonNullable<ObjectConfiguration['lingering']>,
  now: () => number = () => performance.now(),
): LingeringNodes {
  let deletedAtMs: Map<string, number> | undefined
  const leftAtMs = new Map<string, number>()
  return {
    look(existing, hasNode) {
      const before = deletedAtMs
      const left = existing.flatMap((object) => {
        const node = nodeOf(object)
        return node === undefined || hasNode(node) ? [] : [{ object, node, atMs: before?.get(node) ?? now() }]
      })
      deletedAtMs = new Map(left.map(({ node, atMs }) => [node, atMs]))
      // Kept for a while, because the waiting caller asks again, and later deletions do not affect its address.
      for (const [address, atMs] of leftAtMs) if (now() - atMs >= 2 * forMs) leftAtMs.delete(address)
      return left.filter(({ atMs }) => now() - atMs < forMs).map(({ object }) => object)
    },
    find(address) {
      // No pass has looked yet.
      if (!deletedAtMs) return { services: [] }
      const leftAt = leftAtMs.get(address) ?? now()
      const before = [...deletedAtMs].filter(([, atMs]) => atMs <= leftAt)
      const [last] = before.toSorted(([, one], [, other]) => other - one)
      const waitMs = last ? last[1] + forMs - now() : 0
      if (!last || waitMs <= 0) return undefined
      leftAtMs.set(address, leftAt)
      const reason =
        `Node ${last[0]} was deleted, and its machine may continue to announce ${address} for up to ${forMs / 60_000} minutes. ` +
        'The address is released after that, or when the Node exists again'
      return { services: [], waitMs: Math.min(waitMs, pollMs), reason }
    },
    announced: (address) => void leftAtMs.delete(address),
    forget() {
      deletedAtMs = undefined
      leftAtMs.clear()
    },
  }
}
