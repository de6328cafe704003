import type { Node } from '../../kube/objects.ts'
import type { Log } from '../../kube/log.ts'
import { hashForName } from '../../lib/names.ts'

/**
 * Distinguishes a cluster that was restored from an older backup from a copy of it. Both have the same data, so only
 * something outside every backup can tell: a kubelet, which serves one cluster. So each heartbeat names the witness, a
 * machine whose kubelet renews its lease in the cluster that wrote the heartbeat.
 */
export type Witness = {
  /** The machine for our next heartbeat; undefined until this process has seen one serve the cluster. */
  find(signal: AbortSignal): Promise<string | undefined>
  /**
   * Whether the machine that a heartbeat names serves this cluster. Takes over half a minute if the machine is one of
   * our nodes and its lease is not renewed.
   */
  serves(machine: string, signal: AbortSignal): Promise<boolean>
}

export type WitnessDeps = {
  nodes: () => Node[]
  /** When the kubelet of a node last renewed its lease; undefined if the node has none. */
  renewTime: (node: string, signal: AbortSignal) => Promise<string | undefined>
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  log: Log
}

type Seen = { machine: string; renewTime: string | undefined; renewals: number }

/**
 * A kubelet begins to renew its node's lease before the Node names the machine. By the second renewal, ten seconds
 * later, the Node is up to date.
 */
const neededRenewals = 2
const lookMs = 3_000
const maxLooks = 12

/** The witness of one process, which has seen no kubelet yet. */
export function witness({ nodes, renewTime, sleep, log }: WitnessDeps): Witness {
  const seen = new Map<string, Seen>()

  const isProven = (node: Node) => {
    const { machine, renewals = 0 } = seen.get(node.metadata.name) ?? {}
    return renewals >= neededRenewals && machine === machineOf(node)
  }
  /** Returns false if it cannot see a renewal. */
  const look = async (node: Node, signal: AbortSignal): Promise<boolean> => {
    const { name } = node.metadata
    const machine = machineOf(node) ?? ''
    try {
      const now = await renewTime(name, signal)
      const last = seen.get(name)
      const renewals = last?.machine === machine ? last.renewals + Number(now !== last.renewTime) : 0
      seen.set(name, { machine, renewTime: now, renewals: now === undefined ? 0 : renewals })
      return now !== undefined
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ node: name, error }, 'the lease of a node could not be read; a heartbeat may name no machine')
      return false
    }
  }

  return {
    async find(signal) {
      const able = nodes().filter((node) => isReady(node) && machineOf(node) !== undefined)
      const candidate = able.find(isProven) ?? able.toSorted(byName)[0]
      if (candidate && !isProven(candidate)) await look(candidate, signal)
      return candidate && isProven(candidate) ? machineOf(candidate) : undefined
    },
    async serves(machine, signal) {
      for (let looks = 0; looks < maxLooks; looks += 1) {
        const node = nodes().find((one) => machineOf(one) === machine)
        if (!node || !(await look(node, signal))) return false
        if (isProven(node)) return true
        await sleep(lookMs, signal)
        signal.throwIfAborted()
      }
      return false
    },
  }
}

/** A single boot of one machine, as its kubelet reports it. It is hashed because the vendor's console shows the heartbeat. */
function machineOf({ status }: Node): string | undefined {
  const { bootID, machineID, systemUUID } = status?.nodeInfo ?? {}
  return bootID && machineID ? hashForName([bootID, machineID, systemUUID].join(), 16) : undefined
}

function isReady({ status, metadata }: Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' && metadata.deletionTimestamp === undefined
}

function byName(one: Node, other: Node): number {
  return one.metadata.name < other.metadata.name ? -1 : 1
}
