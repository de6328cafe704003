import type { KubeClient } from '../../../kube/client.ts'
import { isOwnIdentity } from '../../../kube/lease.ts'
import { namespaces } from '../../../kube/resource.ts'
import { definitions } from '../../../kube/definitions.ts'
import type { Pod } from '../../../kube/workloads.ts'
import { elasticIPDefinition } from '../../../manifests/elastic-ip-crd.ts'
import { readConfigurations } from '../../../webhooks/webhook-probe.ts'
import { endIfBlocked } from '../end.ts'
import { type FoundBefore, readFound, servedServices } from '../found.ts'
import { holdStep, isForeign, isShared } from '../lead-lease.ts'
import type { TakeoverPlan } from '../plan/plan.ts'
import { type Run, lockedRun } from '../run.ts'
import type { RunDeps, TakeoverStep } from '../steps.ts'
import { readWorkloads, stopStep } from '../workloads.ts'
import { type Verified, verifyStep } from './verify.ts'
import { leadStep, standbyStep } from './lead-step.ts'

export type ApplyDeps = RunDeps & {
  /** Reads the cluster and the provider again. */
  makePlan: () => Promise<TakeoverPlan>
  install: (plan: TakeoverPlan) => Promise<void>
}

export type ApplyResult = Verified & { plan: TakeoverPlan }

/** Carries out a takeover, or the rest of one. Each step finds out what is already done. */
export async function applyTakeover(deps: ApplyDeps): Promise<ApplyResult> {
  const plan = await freePlan(deps)
  const { namespace, leaseNamespace, leaseName } = plan.target
  const options = { fieldManager: 'eip-admission-install' }
  await deps.client.apply(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, options)
  const of = { namespace, command: 'apply', lease: { namespace: leaseNamespace, name: leaseName } } as const
  return lockedRun(deps, of, async (run) => {
    const { state, step } = run.before ?? {}
    // Another run may have made progress between our plan and our lock.
    const isAsPlanned = state === plan.status?.recorded && step?.title === plan.status?.step.title
    return carryOut(deps, isAsPlanned ? plan : await freePlan(deps), run)
  })
}

/** A plan without blockers. */
async function freePlan({ makePlan }: ApplyDeps): Promise<TakeoverPlan> {
  const plan = await makePlan()
  endIfBlocked(plan.blockers)
  return plan
}

async function carryOut(deps: ApplyDeps, plan: TakeoverPlan, run: Run): Promise<ApplyResult> {
  const { before } = run
  // A later run sees a cluster that the first one has already changed. The next `undo` finds again the reservations
  // that an interrupted one noted.
  const found = before ? { ...before.found, left: [] } : await readFound(deps.client, plan)
  const verify = verifyStep({ client: deps.client, planned: servedServices(plan), found })
  await run.carryOut([...stepsOf(deps, plan, { found, lead: run.lead }), verify], found)
  return { plan, ...verify.results() }
}

/** The steps before the last one, which verifies. */
function stepsOf(
  { client, install, signal }: ApplyDeps,
  plan: TakeoverPlan,
  { found, lead }: Pick<Run, 'lead'> & { found: FoundBefore },
): TakeoverStep[] {
  const { namespace } = plan.target
  const ours = { client, namespace }
  const isElecting = isShared(found.lease, lead.at)
  return [
    installStep(client, () => install(plan)),
    holdStep(client, lead, {
      // A predecessor that elects holds the lease itself; ours does since an earlier run.
      mayStay: (holder) => isOwnIdentity(holder) || (isElecting && isForeign(holder)),
      onClaimed() {
        // A running predecessor that renews no lease does not elect, so `undo` must not wait for it to lead.
        if (plan.predecessor.workloads.some(({ isRunning }) => isRunning)) found.lease.holder = undefined
      },
    }),
    standbyStep(ours, signal),
    stopStep(client, {
      title: `Stop ${plan.predecessor.title}`,
      workloads: () => readWorkloads(client, found.workloads),
      // The step ends when no pod is left.
      note: (pod) => lead.ended.add(hostnameOf(pod)),
    }),
    leadStep(ours, lead),
  ]
}

/** The hostname that a program in a pod sees, with which its lease identity begins. */
function hostnameOf({ metadata, spec }: Pod): string {
  return (spec?.hostNetwork ? spec.nodeName : undefined) ?? metadata.name
}

/** Applies the objects of `install`, unless the cluster has them: the last one is a webhook configuration. */
function installStep(client: KubeClient, install: () => Promise<void>): TakeoverStep {
  return {
    title: 'Install what eip-admission needs in the cluster',
    async missing() {
      const [definition, { mutating, validating }] = await Promise.all([
        client.get(definitions, { name: elasticIPDefinition.metadata.name }),
        readConfigurations(client),
      ])
      const absent = [
        ...(definition ? [] : ['the ElasticIP CRD']),
        ...(mutating && validating ? [] : ['the webhook configurations']),
      ]
      return absent.length === 0 ? undefined : { text: `installing ${absent.join(' and ')}` }
    },
    act: install,
  }
}
