import type { KnownAddress } from '../../controllers/control-plane/known-address.ts'
import type { WakeUp } from '../../controllers/control-plane/wake-up.ts'
import type { Watchdog } from '../../controllers/control-plane/watchdog.ts'
import type { Probe } from '../../kube/probe.ts'
import type { Base } from '../base.ts'
import type { GuardianMetrics } from './guardian-metrics.ts'
import type { Mirror } from './mirror.ts'
import type { ControlPlaneCaches } from './node-caches.ts'
import type { Targets } from './targets.ts'

/** The parts of a process's guardian. */
export type Parts = {
  base: Base
  caches: ControlPlaneCaches
  probe: Probe
  known: KnownAddress
  targets: Targets
  metrics: GuardianMetrics
  awake: WakeUp
  watchdog: Watchdog
  mirror: Mirror
  /** Aborts when the guardian has to stop. */
  signal: AbortSignal
}
