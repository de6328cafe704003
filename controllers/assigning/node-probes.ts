import { connect } from 'node:net'
import type { Clock } from '../../kube/clock.ts'
import type { Node } from '../../kube/objects.ts'
import type { Endpoint, Probe, ProbeResult } from '../../kube/probe.ts'
import { runningTimer } from '../../lib/time-limit.ts'
import type { MoveRules } from '../moves/move-plan.ts'
import { noProbes } from '../moves/probe-history.ts'
import { probers } from '../moves/probers.ts'
import { machineAddresses } from '../nodes/node-addresses.ts'

/** How soon a node counts as failed, and as good again. */
export const nodeRules: MoveRules = { failures: 3, successes: 3 }

/** The usual port of kubelets. A host where nothing listens refuses the connection, which also proves that it is up. */
const port = 10_250
const intervalMs = 1_000
const timeoutMs = 1_000

export type NodeProbes = ReturnType<typeof nodeProbes>

/** Probes every node, because Kubernetes takes most of a minute to miss one. */
export function nodeProbes(options: {
  nodes: () => readonly Node[]
  clock: Clock
  /** Called when a node has failed too often, answers again, or makes another one's failure plausible. */
  onChange: () => void
  probe?: Probe
}) {
  const { nodes, clock, onChange, probe = connectionProbe } = options
  const failed = new Set<string>()
  let running: ReturnType<typeof probers> | undefined
  const onOutcome = (name: string, { isWell, failures }: { isWell: boolean; failures: number }) => {
    const isFailed = !isWell && (failed.has(name) || failures >= nodeRules.failures)
    const isVoucher = failed.size > 0 && running?.history(name).successes === nodeRules.successes
    if (isFailed === failed.has(name) && !isVoucher) return
    if (isFailed) failed.add(name)
    else failed.delete(name)
    onChange()
  }
  const retarget = () => {
    const targets = new Map(nodes().flatMap(targetOf))
    for (const name of failed) if (!targets.has(name)) failed.delete(name)
    running?.target(targets)
  }
  return {
    /** The results of a node's probes. */
    history: (name: string) => running?.history(name) ?? noProbes,
    retarget,
    /**
     * Probes the nodes until the signal aborts; call `retarget` when they change. Every replica does so, because a new
     * leader must know which nodes answered before.
     */
    start(signal: AbortSignal) {
      const started = probers({ probe, intervalMs, goodAfter: nodeRules.successes, timeoutMs, clock, onOutcome })
      running = started
      retarget()
      signal.addEventListener('abort', () => started.stop(), { once: true })
    },
  }
}

function targetOf(node: Node): [name: string, endpoint: Endpoint][] {
  const [address] = machineAddresses(node)
  return address === undefined ? [] : [[node.metadata.name, { address, port }]]
}

/** Whether a host answers a connection, even with a refusal. */
export async function connectionProbe({ address, port: at }: Endpoint, signal?: AbortSignal): Promise<ProbeResult> {
  const { promise, resolve } = Promise.withResolvers<ProbeResult>()
  const socket = connect({ host: address, port: at, ...(signal && { signal }) })
  const stopTimer = runningTimer(timeoutMs, () =>
    resolve({ isWell: false, isDefinite: false, reason: `no answer within ${timeoutMs} ms` }),
  )
  socket.once('connect', () => resolve({ isWell: true }))
  socket.on('error', (error: NodeJS.ErrnoException) =>
    resolve(
      error.code === 'ECONNREFUSED' ? { isWell: true } : { isWell: false, isDefinite: true, reason: error.message },
    ),
  )
  try {
    return await promise
  } finally {
    stopTimer()
    socket.destroy()
  }
}
