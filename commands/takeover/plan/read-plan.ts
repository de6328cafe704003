import { proxyOf } from '../../../clouds/http/proxy.ts'
import type { CloudProvider } from '../../../clouds/ports/cloud-provider.ts'
import { staticPods } from '../../../inspect/cluster.ts'
import { type Fact, readFact, valueOf } from '../../../inspect/fact.ts'
import type { Context } from '../../../inspect/facts.ts'
import { type FoundPredecessors, type FoundWorkload, findPredecessors } from '../../../inspect/find-predecessors.ts'
import { type GivenSettings, dataReader, readGivenSettings } from '../../../inspect/given-settings.ts'
import { type Predecessor, predecessors, replacedPrograms, runningVersion } from '../../../inspect/predecessors.ts'
import { countedProvider } from '../../../inspect/provider.ts'
import type { Reader } from '../../../inspect/reader.ts'
import type { Credentials } from '../../../kube/credentials.ts'
import { listAll } from '../../../kube/list-all.ts'
import { type Workload, isRunning, listWorkloads, pods } from '../../../kube/workloads.ts'
import { readSettingsFile } from '../../../settings/file.ts'
import { names } from '../../../settings/installed-names.ts'
import { type Problem, SettingsError } from '../../../settings/problems.ts'
import { ownNamespace } from '../../../settings/process.ts'
import { type ServeSettings, serveSettings } from '../../settings/serve.ts'
import { End } from '../end.ts'
import { type Progress, readProgress } from '../progress.ts'
import { readFacts } from './facts.ts'
import { makePlan } from './make-plan.ts'
import { leaseOf } from './plan-leases.ts'
import { type Finding, type TakeoverPlan, blocker } from './plan.ts'
import { refersTo } from '../workloads.ts'
import { type Translation, translate } from './translate.ts'

export type PlanSource = {
  reader: Reader
  /** Whether this person may do everything in the cluster. */
  isAdministrator: () => Promise<boolean>
  credentials: Credentials
  userAgent: string
  env: Readonly<Record<string, string | undefined>>
  /**
   * Flags of `serve` that take precedence over the predecessor's settings: those that the person gave, and the
   * namespace.
   */
  flags: Record<string, string>
  signal: AbortSignal
}

/** A plan, and what else `apply` needs: the settings and the provider, with their secrets. */
export type ReadPlan = {
  plan: TakeoverPlan
  settings: ServeSettings
  vendor: CloudProvider
  /** The configuration file of our Secret, as JSON. It holds the token. */
  secretFile: string
}

/**
 * Reads the cluster and the provider, changes neither, and makes the plan. Throws an End if it cannot know the
 * settings.
 */
export async function readPlan(source: PlanSource): Promise<ReadPlan> {
  const { reader, userAgent, env, signal } = source
  const { found, workloads } = await findAll(reader)
  const progress = await readFact(() => readProgress(reader, source.flags['--namespace'] ?? ownNamespace.default))
  const { predecessor, given, version } = await chosen({ found, progress }, source)
  const translation = withGivenFile(translate(predecessor, given, version), source.flags)
  const settings = resolved(predecessor, translation, source)
  const { vendor, pace } = await countedProvider(settings.cloud, { userAgent, proxy: proxyOf(env), signal })
  // The variables of this shell do not belong to `serve`.
  const context: Context = { now: new Date(), env: [], settings, vendor }
  const { leaseNamespace, leaseName } = settings.process
  const leasesAt = [{ namespace: leaseNamespace, name: leaseName }, leaseOf({ predecessor, given })]
  const facts = await readFacts({ ...source, context, vendor, workloads, pace, leasesAt, progress })
  const ofServe = Object.entries(source.flags).filter(([flag]) => !placeFlags.includes(flag))
  const flags = { ...translation.flags, ...Object.fromEntries(ofServe) }
  const plan = makePlan({ found, predecessor, given, translation, flags, facts, context })
  return { plan, settings, vendor, secretFile: `${JSON.stringify(translation.file?.fields ?? {}, null, 2)}\n` }
}

/**
 * The predecessors among all workloads, and among the pods where one may run. Also every program, including static
 * pods.
 */
async function findAll(reader: Reader): Promise<{ found: FoundPredecessors; workloads: Workload[] }> {
  const workloads = await listWorkloads(reader)
  const namespaces = findPredecessors(workloads, []).workloads.map(({ object }) => object.metadata.namespace ?? '')
  const places = [...new Set(['kube-system', ...namespaces])]
  const seen = (await Promise.all(places.map((namespace) => listAll(reader, pods, { namespace })))).flat()
  return { found: findPredecessors(workloads, seen), workloads: [...workloads, ...staticPods(seen)] }
}

/** Flags with which `takeover` itself finds the cluster and the settings. */
const placeFlags = ['--kubeconfig', '--api-server', '--cloud-provider', '--cloud-config', '--provider-config']

/** The predecessor to replace, and its settings; the person may name one that runs outside the cluster. */
async function chosen(
  { found, progress }: { found: FoundPredecessors; progress: Fact<Progress | undefined> },
  { reader, flags, env }: PlanSource,
): Promise<{ predecessor: Predecessor; given: GivenSettings; version?: string | undefined }> {
  const named = flags['--cloud-provider']?.toLowerCase()
  const workload = chosenWorkload(found, valueOf(progress))
  if (workload) {
    const given = await readGivenSettings(workload, dataReader(reader))
    return { predecessor: workload.predecessor, given, version: runningVersion(workload) }
  }
  const predecessor = predecessors.find(
    ({ provider, dialect, id }) => id === dialect && (provider === named || dialect === named),
  )
  if (!predecessor) throw withoutPredecessor(progress, flags['--namespace'] ?? ownNamespace.default)
  const own = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value, isSecret: false }],
  )
  return { predecessor, given: { flags: {}, secretFlags: [], env: own, file: undefined, unread: [] } }
}

/** The workload that runs, else the one that ran when the takeover started: others may have other settings. */
function chosenWorkload({ workloads }: FoundPredecessors, progress: Progress | undefined): FoundWorkload | undefined {
  const [first] = workloads
  if (!first || isRunning(first.object)) return first
  const ran = progress?.found.workloads.filter((one) => one.isRunning) ?? []
  return workloads.find(({ object }) => ran.some((ref) => refersTo(ref, object))) ?? first
}

/** The translation with the configuration file that the person gave, in place of the predecessor's. */
function withGivenFile(translation: Translation, flags: Record<string, string>): Translation {
  const path = flags['--cloud-config'] ?? flags['--provider-config']
  if (path === undefined) return translation
  const file = readSettingsFile(path)
  const findings = translation.findings.filter(({ isBlocker }) => !isBlocker)
  return { ...translation, file: { ...file, fields: { ...file.fields, ...translation.merged } }, findings }
}

/** The translated settings, as `serve` reads them. */
function resolved(predecessor: Predecessor, { flags, file, findings }: Translation, source: PlanSource): ServeSettings {
  const { KUBECONFIG } = source.env
  try {
    return serveSettings({
      // The predecessor's leftovers must not be released before a person has seen them.
      flags: { '--sweep': 'report', ...flags, ...source.flags, '--cloud-provider': predecessor.provider },
      env: KUBECONFIG === undefined ? {} : { KUBECONFIG },
      file,
    })
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new End('blocked', "the predecessor's settings cannot be used as they are", {
      blockers: [...findings.filter(({ isBlocker }) => isBlocker), ...error.problems.map(problemFinding)],
    })
  }
}

/** The end without a plan, if no workload runs a predecessor and the person named none. */
function withoutPredecessor(recorded: Fact<Progress | undefined>, namespace: string): Error {
  if ('unread' in recorded) return new Error(recorded.unread)
  const { value: progress } = recorded
  if (!progress) return new End('blocked', 'no predecessor was found', { blockers: [absent] })
  const where = progress.found.workloads.map(({ kind, namespace: of, name }) => `${kind} ${of}/${name}`).join(', ')
  const removal = `kubectl delete configmap -n ${namespace} ${names.takeoverConfigMap}`
  const gone = blocker('predecessor-gone', where, {
    what: 'it does not exist, so the settings cannot be read from it, and `undo` cannot start it again',
    remedy: `if it will never run again, remove the record of the takeover: \`${removal}\`; otherwise install it again as it was`,
  })
  return new End('blocked', 'a takeover was started, and its predecessor is no longer in the cluster', {
    blockers: [gone],
  })
}

const absent = blocker('no-predecessor', 'Deployments and DaemonSets of all namespaces', {
  what: `none runs ${replacedPrograms}`,
  remedy:
    'if it runs outside of the cluster, name it with --cloud-provider and --cloud-config=FILE; if there is none, install eip-admission',
})

/** The finding of a problem, without values from the file: a person may have written the token into the wrong field. */
function problemFinding({ setting, source, wrong, right }: Problem): Finding {
  const isOfFile = source?.startsWith('the field ') === true
  const shown = isOfFile ? wrong.replace(/^is ".*"$/s, 'cannot be used (its value is not shown)') : wrong
  return { reason: 'setting', where: setting, what: source === undefined ? shown : `${source} ${shown}`, remedy: right }
}
