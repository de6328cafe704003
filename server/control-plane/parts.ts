import type { KnownFront } from '../../controllers/control-plane/known-front.ts'
import type { WakeUp } from '../../controllers/control-plane/wake-up.ts'
import type { Watchdog } from '../../controllers/control-plane/watchdog.ts'
import type { Probe } from '../../kube/probe.ts'
import type { Base } from '../base.ts'
import type { GuardMetrics } from './guard-metrics.ts'
import type { Mirror } from './mirror.ts'
import type { ControlPlaneCaches } from './node-caches.ts'
import type { Targets } from './targets.ts'

/** What the guardian of a process consists of. */
export type Parts = {
  base: Base
  caches: ControlPlaneCaches
  probe: Probe
  known: KnownFront
  targets: Targets
  metrics: GuardMetrics
  awake: WakeUp
  dog: Watchdog
  mirror: Mirror
  /** Aborts when the guardian has to stop. */
  signal: AbortSignal
}
