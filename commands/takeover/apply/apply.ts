import type { KubeClient } from '../../../kube/client.ts'
import { mutatingWebhookConfigurations, namespaces, validatingWebhookConfigurations } from '../../../kube/resource.ts'
import { elasticIPDefinition } from '../../../manifests/elastic-ip-crd.ts'
import { customResourceDefinitions } from '../../../manifests/resources.ts'
import { names } from '../../../settings/installed-names.ts'
import { type FoundBefore, lateWorkloads, readFound } from '../found.ts'
import { leadLease } from '../lead-lease.ts'
import { type TakeoverPlan, canApply } from '../plan/plan.ts'
import type { Progress } from '../progress.ts'
import { End, inTheWay } from '../end.ts'
import { type Run, type RunDeps, lockedRun } from '../run.ts'
import type { TakeoverStep, StepResult } from '../steps.ts'
import type { Pod } from '../../../inspect/facts.ts'
import { readWorkloads, stopStep } from '../workloads.ts'
import { type Verified, verifyStep } from './verify-step.ts'
import { leadStep, standbyStep } from './lead-step.ts'

export type ApplyDeps = RunDeps & {
  /** Reads the cluster and the cloud again. */
  makePlan: () => Promise<TakeoverPlan>
  install: (plan: TakeoverPlan) => Promise<void>
}

export type ApplyResult = Verified & { plan: TakeoverPlan; steps: StepResult[] }

/** Carries out a takeover, or the rest of one. Each step finds out which part is done already. */
export async function applyTakeover(deps: ApplyDeps): Promise<ApplyResult> {
  const plan = await freePlan(deps)
  const { namespace } = plan.target
  const options = { fieldManager: 'eip-admission-install' }
  await deps.client.apply(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, options)
  return lockedRun(deps, { namespace, command: 'apply' }, async (run) => {
    // Another run may have worked between our plan and our lock.
    const current = isAsPlanned(run.before, plan) ? plan : await freePlan(deps)
    return carryOut(deps, current, run)
  })
}

/** A plan without blockers. */
async function freePlan({ makePlan }: ApplyDeps): Promise<TakeoverPlan> {
  const plan = await makePlan()
  if (!canApply(plan)) throw inTheWay(plan.blockers)
  return plan
}

function isAsPlanned(before: Progress | undefined, { status }: TakeoverPlan): boolean {
  return before?.state === status?.recorded && before?.step.name === status?.step.name
}

async function carryOut(deps: ApplyDeps, plan: TakeoverPlan, run: Run): Promise<ApplyResult> {
  const { before, progress, check, clock } = run
  // A later run sees a cluster that the first one has changed already.
  // The next `undo` reads again the reservations that an interrupted one noted.
  const found = before ? { ...before.found, left: [] } : await readFound(deps.client, plan)
  const late = lateWorkloads(found, plan)
  if (late.length > 0)
    throw new End(
      'refused',
      `${late.join(' and ')} did not run when the takeover began; stop it, or run \`eip-admission takeover undo\` first`,
    )
  const { steps, lead, verify } = stepsOf(deps, plan, { found, clock })
  const checkAll = async () => {
    await check()
    await lead.check()
  }
  try {
    const { steps: results, last } = await run.carryOut(steps, { state: 'applying', found, check: checkAll })
    if (last) await progress.write({ state: 'applied', step: last, found })
    return { plan, steps: results, ...verify.results() }
  } finally {
    // A release would let ours lead beside a predecessor that is not stopped yet.
    await lead.leave()
  }
}

function stepsOf(
  { client, install, signal }: ApplyDeps,
  plan: TakeoverPlan,
  { found, clock }: Pick<Run, 'clock'> & { found: FoundBefore },
) {
  const { namespace, leaseNamespace, leaseName } = plan.target
  const theirs = found.lease
  const ours = { namespace: leaseNamespace, name: leaseName }
  const hosts = new Set<string>()
  const isEnded = (holder: string) => hosts.has(holder.slice(0, holder.lastIndexOf('_')))
  const lead = leadLease({ client, lease: ours, clock, isEnded })
  const planned = plan.services.filter(({ held }) => held !== 'ignored')
  const verify = verifyStep({ client, planned, found })
  const isElecting = theirs.isUsed && theirs.namespace === ours.namespace && theirs.name === ours.name
  const steps: TakeoverStep[] = [
    installStep(client, () => install(plan)),
    standbyStep({ client, namespace, lead, signal, isElecting }),
    stopStep(client, {
      name: 'stop-predecessor',
      title: `Stop ${plan.predecessor.title}`,
      workloads: () => readWorkloads(client, found.workloads),
      isOurs: false,
      // The step ends when none of them is left.
      note: (pod) => hosts.add(hostnameOf(pod)),
    }),
    leadStep({ client, namespace, lead }),
    verify,
  ]
  return { steps, lead, verify }
}

/** The name by which a program in a pod calls its machine, as the identity of a lease begins. */
function hostnameOf({ metadata, spec }: Pod): string {
  return (spec?.hostNetwork ? spec.nodeName : undefined) ?? metadata.name
}

/** Applies what `install` applies, unless the cluster has it: its last object is a webhook configuration. */
function installStep(client: KubeClient, install: () => Promise<void>): TakeoverStep {
  return {
    name: 'install',
    title: 'Install what eip-admission needs in the cluster',
    async missing() {
      const [definition, mutating, validating] = await Promise.all([
        client.get(customResourceDefinitions, { name: elasticIPDefinition.metadata.name }),
        client.get(mutatingWebhookConfigurations, { name: names.mutatingConfiguration }),
        client.get(validatingWebhookConfigurations, { name: names.validatingConfiguration }),
      ])
      const absent = [
        ...(definition ? [] : ['the definition of ElasticIP']),
        ...(mutating && validating ? [] : ['the webhook configurations']),
      ]
      return absent.length === 0 ? undefined : { text: `installing ${absent.join(' and ')}` }
    },
    act: install,
  }
}
