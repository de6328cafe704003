import type { KubeClient } from '../../../kube/client.ts'
import { type Clock, systemClock } from '../../../kube/clock.ts'
import { namespaces } from '../../../kube/resource.ts'
import { readFound } from '../found.ts'
import { freeLeaseStep } from '../lease-steps.ts'
import type { KeptLease } from '../../../kube/kept-lease.ts'
import { withLock } from '../lock.ts'
import type { TakeoverPlan } from '../plan/plan.ts'
import { canApply } from '../plan/plan.ts'
import { type Progress, type ProgressStore, progressStore } from '../progress.ts'
import type { BegunStep } from '../takeover-status.ts'
import type { Routes } from '../routes.ts'
import { Refusal, type StepResult, runSteps } from '../steps.ts'
import { readWorkloads, stopStep } from '../workloads.ts'
import { type ServiceResult, adoptStep, verifyStep } from './adopt-steps.ts'
import { installStep } from './install-step.ts'
import { leadStep } from './lead-step.ts'

export type ApplyDeps = {
  client: KubeClient
  /** Reads the cluster and the cloud anew. */
  makePlan: () => Promise<TakeoverPlan>
  install: (plan: TakeoverPlan) => Promise<void>
  tell: (line: string) => void
  signal: AbortSignal
  patienceMs: number
  /** How long the lock of a dead run counts. */
  lockMs?: number | undefined
  clock?: Clock
}

export type ApplyResult = { plan: TakeoverPlan; steps: StepResult[]; services: ServiceResult[]; routes: Routes }

/** Carries out a takeover, or what an earlier run left of it. Each step sees for itself what is done already. */
export async function applyTakeover(deps: ApplyDeps): Promise<ApplyResult> {
  const { client, tell, signal, lockMs, clock = systemClock } = deps
  const plan = await freePlan(deps)
  const { namespace } = plan.target
  const metadata = { name: namespace }
  const options = { fieldManager: 'eip-admission-install' }
  await client.apply(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }, options)
  return withLock({ client, namespace, command: 'apply', tell, signal, lockMs, clock }, async (lock) => {
    const progress = progressStore(client, namespace)
    const before = await progress.read()
    // Another run may have worked between our plan and our lock.
    const current = isAsPlanned(before, plan) ? plan : await freePlan(deps)
    return carryOut({ ...deps, clock, plan: current, progress, before, lock })
  })
}

/** A plan without blockers. */
async function freePlan({ makePlan }: ApplyDeps): Promise<TakeoverPlan> {
  const plan = await makePlan()
  if (!canApply(plan)) throw new Refusal(blockersText(plan))
  return plan
}

function isAsPlanned(before: Progress | undefined, { status }: TakeoverPlan): boolean {
  return before?.state === status?.recorded && before?.step.name === status?.step.name
}

type Work = ApplyDeps & {
  clock: Clock
  plan: TakeoverPlan
  progress: ProgressStore
  before: Progress | undefined
  lock: KeptLease
}

async function carryOut(work: Work): Promise<ApplyResult> {
  const { client, tell, signal, patienceMs, clock, plan, progress, before, lock } = work
  const { namespace, leaseNamespace, leaseName } = plan.target
  // A later run sees a cluster that the first one has changed already.
  const found = before?.found ?? (await readFound(client, plan))
  const planned = plan.services.filter(({ held }) => held !== 'ignored')
  const lease = { namespace: leaseNamespace, name: leaseName }
  const verify = verifyStep({ client, planned, found })
  const steps = [
    installStep(client, () => work.install(plan)),
    stopStep(client, {
      name: 'stop-predecessor',
      title: `Stop ${plan.predecessor.title}`,
      workloads: () => readWorkloads(client, found.workloads),
      isOurs: false,
    }),
    freeLeaseStep(client, lease, clock),
    leadStep(client, { namespace, lease }),
    adoptStep({ client, planned, found }),
    verify,
  ]
  let last: BegunStep | undefined
  const record = async (step: BegunStep) => {
    last = step
    await progress.write({ state: 'applying', step, found })
  }
  const results = await runSteps(steps, { record, check: lock.check, tell, signal, patienceMs, clock })
  await lock.check()
  if (last) await progress.write({ state: 'applied', step: last, found })
  return { plan, steps: results, ...(await verify.results()) }
}

/** Every blocker with its remedy. */
function blockersText({ blockers }: Pick<TakeoverPlan, 'blockers'>): string {
  const lines = blockers.map(({ where, what, remedy }) => `  ${where}: ${what}\n    -> ${remedy}`)
  const count = `${blockers.length} ${blockers.length === 1 ? 'thing stands' : 'things stand'} in the way`
  return `nothing was changed: ${count}\n${lines.join('\n')}`
}
