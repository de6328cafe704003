import type { KubeClient } from '../../../kube/client.ts'
import { type Clock, systemClock } from '../../../kube/clock.ts'
import { namespaces } from '../../../kube/resource.ts'
import { type ServiceResult, adoptStep, verifyStep } from './adopt-steps.ts'
import { type Found, readFound } from '../found.ts'
import { freeLeaseStep } from './free-lease.ts'
import { installStep } from './install-step.ts'
import { leadStep } from './lead-step.ts'
import type { PredecessorWorkload, TakeoverPlan } from '../plan/plan.ts'
import { canApply } from '../plan/plan.ts'
import { type ProgressStore, progressStore } from '../progress.ts'
import { type StepResult, runSteps } from '../steps.ts'
import { stopStep } from '../stop-steps.ts'
import { readWorkload } from '../workloads.ts'

export type ApplyDeps = {
  client: KubeClient
  /** Reads the cluster and the cloud anew. */
  makePlan: () => Promise<TakeoverPlan>
  install: (plan: TakeoverPlan) => Promise<void>
  tell: (line: string) => void
  signal: AbortSignal
  patienceMs: number
  clock?: Clock
}

export type ApplyResult = { plan: TakeoverPlan; steps: StepResult[]; services: ServiceResult[] }

/** Thrown where the plan has blockers: nothing was changed. */
export class Blocked extends Error {
  override readonly name = 'Blocked'
}

/** Carries out a takeover, or what an earlier run left of it. Each step sees for itself what is done already. */
export async function applyTakeover(deps: ApplyDeps): Promise<ApplyResult> {
  const { client, signal, tell, patienceMs, clock = systemClock } = deps
  const plan = await deps.makePlan()
  if (!canApply(plan)) throw new Blocked(blockersText(plan))
  const { namespace, leaseNamespace, leaseName } = plan.target
  const progress = progressStore(client, namespace)
  const found = await foundBefore(client, plan, progress)
  const planned = plan.services.filter(({ held }) => held !== 'ignored')
  const lease = { namespace: leaseNamespace, name: leaseName }
  const verify = verifyStep({ client, planned, found })
  const steps = [
    installStep(client, () => deps.install(plan)),
    stopStep({ name: 'stop-predecessor', title: `Stop ${plan.predecessor.title}` }, client, () =>
      stoppedWorkloads(client, found.workloads),
    ),
    freeLeaseStep(client, lease, clock),
    leadStep(client, { namespace, lease }),
    adoptStep({ client, planned, found }),
    verify,
  ]
  const record = ({ name }: { name: string }) => progress.write({ state: 'applying', step: name, found })
  const results = await runSteps(steps, { record, tell, signal, patienceMs, clock })
  await progress.write({ state: 'applied', step: 'verify', found })
  return { plan, steps: results, services: await verify.results() }
}

/** What the first run found. A later run sees a cluster that this one has changed already. */
async function foundBefore(client: KubeClient, plan: TakeoverPlan, progress: ProgressStore): Promise<Found> {
  const before = await progress.read()
  if (before) return before.found
  const found = await readFound(client, plan)
  await client.apply(
    namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: plan.target.namespace } },
    { fieldManager: 'eip-admission-install' },
  )
  await progress.write({ state: 'applying', step: 'record', found })
  return found
}

/** The predecessor's workloads that exist, with the selectors of their pods. */
async function stoppedWorkloads(client: KubeClient, workloads: readonly PredecessorWorkload[]) {
  const read = await Promise.all(
    workloads.map(async ({ podSelector, ...ref }) => {
      const workload = await readWorkload(client, ref)
      return workload ? [{ workload, podSelector }] : []
    }),
  )
  return read.flat()
}

/** Every blocker with its remedy. */
function blockersText({ blockers }: Pick<TakeoverPlan, 'blockers'>): string {
  const lines = blockers.map(({ where, what, remedy }) => `  ${where}: ${what}\n    -> ${remedy}`)
  const count = `${blockers.length} ${blockers.length === 1 ? 'thing stands' : 'things stand'} in the way`
  return `nothing was changed: ${count}\n${lines.join('\n')}`
}
