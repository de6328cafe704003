import { names } from '../../settings/installed-names.ts'
import type { Guardian } from './lead-loop.ts'
import type { KnownAddress } from './known-address.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'

type Watched = {
  /** The guardian while it leads: the others' knowledge may be stale. */
  leading: () => Guardian | undefined
  known: KnownAddress
  now: () => number
}

/** Shows the state of the control-plane address as metrics. */
export function readGuardian(metrics: Metrics, { leading, known, now }: Watched): void {
  const isLeader = () => Number(leading() !== undefined)
  metrics.read('eip_admission_control_plane_leader', isLeader)
  metrics.readEach('leader_election_master_status', () => [
    { labels: { name: names.controlPlaneLease }, value: isLeader() },
  ])
  metrics.read('eip_admission_control_plane_problem', () => Number(leading()?.problem() !== undefined))
  metrics.read('eip_admission_control_plane_cloud_read_age_seconds', () => {
    // While no guardian can read from the provider, they lead in turn, and each forgets when it starts.
    const ageMs = known.sinceReadMs()
    return ageMs === Infinity ? undefined : ageMs / 1000
  })
  metrics.read('eip_admission_control_plane_silent_seconds', () => {
    const answeredAtMs = leading()?.holder()?.probes.answeredAtMs
    return answeredAtMs === undefined ? undefined : (now() - answeredAtMs) / 1000
  })
  metrics.readEach('eip_admission_control_plane_holder', () => {
    const holder = leading()?.holder()
    return holder === undefined ? [] : [{ labels: { node: holder.name }, value: 1 }]
  })
}
