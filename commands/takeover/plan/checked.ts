import type { Check } from '../../doctor/check.ts'
import { softwareCheck } from '../../doctor/checks/announcers.ts'
import { apiServerVersion } from '../../doctor/checks/api-server.ts'
import { cloudAccess, cloudPace, clusterId, project } from '../../doctor/checks/cloud.ts'
import { controlPlaneReservation } from '../../doctor/checks/control-plane.ts'
import { nodeMachines, providerIds, uninitializedNodes } from '../../doctor/checks/nodes.ts'
import type { Context, Facts } from '../../../inspect/facts.ts'
import type { TakeoverFacts } from './facts.ts'
import type { PlanFinding } from './plan.ts'

/** Errors of these checks are no reason to wait: the predecessor lives with the same, and nothing is touched there. */
const known: readonly Check[] = [
  providerIds,
  uninitializedNodes,
  nodeMachines,
  softwareCheck('metallb-reports'),
  cloudPace,
]

/** The checks of `doctor` that make sense before we run. */
const checks: readonly Check[] = [
  apiServerVersion,
  cloudAccess,
  clusterId,
  project,
  ...['metallb-programs', 'metallb-definitions', 'overlapping-pools', 'kube-vip'].map(softwareCheck),
  controlPlaneReservation,
  ...known,
]

/** Findings of `doctor`: its errors are in the way, unless the predecessor has lived with them. */
export function checked(facts: TakeoverFacts, context: Context, announcerRuns: boolean): PlanFinding[] {
  return checks.flatMap((check) => {
    // The checks that we run need no other facts.
    const results = check.run(facts as unknown as Facts, context)
    const problems = results.filter(({ level }) => level === 'error' || level === 'warning')
    return problems.map(({ check: reason, level, section, what, why, fix = 'eip-admission doctor', isUnseen }) => ({
      isBlocker: level === 'error' && !known.includes(check) && !(isUnseen && announcerRuns),
      reason,
      where: section,
      what: why === undefined ? what : `${what}: ${why}`,
      remedy: isUnseen ? `${fix}; if you know that it runs: ${confirmedPlan}` : fix,
    }))
  })
}

const confirmedPlan = 'eip-admission takeover plan --announcer-runs'
