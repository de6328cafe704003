import type { KubeClient } from '../kube/client.ts'
import { mirrorSlicesSelector } from '../controllers/control-plane/mirror-objects.ts'
import { connect } from '../kube/connect.ts'
import { KubeError, isForbidden, resultUnless } from '../kube/errors.ts'
import { listAll, listAllKnown } from '../kube/list-all.ts'
import { type ConfigMap, type Service, keyOf } from '../kube/objects.ts'
import { type Clock, systemClock } from '../kube/clock.ts'
import { configMaps, endpointSlices, nodes, services, leases, nodeLeaseNamespace } from '../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../ledger/record/elastic-ip.ts'
import { upstreamFinalizer } from '../ledger/record/names.ts'
import { type CommandFlags, kubeconfigFlags, withFlags } from '../lib/remedy.ts'
import { names } from '../settings/installed-names.ts'
import { credentialsOf } from '../kube/kubeconfig.ts'
import type { CleanupSettings } from './settings/commands.ts'
import { shownBalancer } from '../clouds/cloud-choice.ts'
import {
  hasFinalizer,
  heldOf,
  mirrorDeletions,
  ours,
  recordChange,
  serviceChange,
  webhookDeletions,
} from './cleanup-changes.ts'
import { readAnnouncing, whatIsLeft } from './cleanup-left.ts'
import { type StoppableDeps, endWhenStopped } from './command-deps.ts'
import { isOwnIdentity } from '../kube/lease.ts'

type CleanupDeps = StoppableDeps & { clock?: Pick<Clock, 'sleep'> }

/**
 * Removes everything of ours that could block the cluster without our process: webhook configurations and finalizers.
 * Reservations and announcements stay: it lists them, and how to remove them.
 */
export async function cleanup(settings: CleanupSettings, given: CleanupDeps): Promise<void> {
  const { kubeconfig: file, apiServer, yes } = settings
  const { env, version } = given
  const flags = kubeconfigFlags(file, env)
  const client = connect(credentialsOf({ kubeconfig: file, apiServer }, env), { userAgent: `eip-admission/${version}` })
  await cleanUp(client, { yes, flags }, given)
}

type Cleaning = { yes: boolean; flags: CommandFlags }

/** Does the work of `cleanup` with a client. */
export async function cleanUp(client: KubeClient, { yes, flags }: Cleaning, deps: CleanupDeps): Promise<void> {
  const { clock = systemClock } = deps
  const print = (text: string) => deps.print(withFlags(text, flags))
  endWhenStopped(deps, 'stopped before it was done; run the command again')
  const [all, records, takeover, renewals] = await Promise.all([
    listAll(client, services),
    listAllKnown(client, elasticIPs),
    readTakeover(client),
    readRenewals(client),
  ])
  const held = heldOf(all, records)
  print(takeoverWarning(takeover))
  const changes = [
    ...webhookDeletions(client),
    ...(takeover === 'none' ? mirrorDeletions(client, all) : []),
    ...held.services.map((service) => serviceChange(client, service, finalizersOf(service, takeover))),
    ...held.records.map((record) => recordChange(client, record)),
  ]
  for (const { planned, make } of changes) print(`${yes ? await make() : planned}\n`)
  if (takeover !== 'none') print(finalizersLeft(held.services))
  // An earlier run has removed the finalizers, and what it listed still costs money.
  print(reservationsLeft(records))
  print(balancersLeft(all))
  print(await leftBehind(client, all))
  if (!yes) return print(instructions)
  const returned = await returnedText(client, { renewals, clock })
  if (returned !== undefined) throw new Error(withFlags(returned, flags))
  print(afterwards)
}

/** The record of a takeover. A caller that may not read it does not know whether one exists. */
type Takeover = ConfigMap | 'none' | 'unknown'

async function readTakeover(client: KubeClient): Promise<Takeover> {
  const field = `metadata.name=${names.takeoverConfigMap}`
  const found = await resultUnless(isForbidden, listAll(client, configMaps, { fieldSelector: field }))
  return found ? (found[0] ?? 'none') : 'unknown'
}

/** After a takeover, `undo` is the way back: it also restores what the predecessor needs. */
function takeoverWarning(takeover: Takeover): string {
  if (typeof takeover === 'string') return ''
  const { namespace, name } = takeover.metadata
  return (
    `This cluster was taken over: ConfigMap ${namespace}/${name} records it. To go back to the previous ` +
    'program, run `eip-admission takeover undo` instead: cleanup leaves objects behind that the previous program would ' +
    'duplicate or never remove.\n'
  )
}

/**
 * The finalizers to remove from a Service. A predecessor's is removed with ours, as in the controllers: no other
 * program would remove it. It stays if `takeover undo` may bring the predecessor back, which then releases the
 * addresses of Services that were deleted meanwhile. On a Service with a class it may be another controller's.
 */
function finalizersOf({ spec }: Service, takeover: Takeover): string[] {
  return takeover === 'none' && spec.loadBalancerClass === undefined ? [...ours, upstreamFinalizer] : ours
}

/** The Services that a predecessor holds too, and how to remove its finalizer if it never comes back. */
function finalizersLeft(held: Service[]): string {
  const left = held
    .filter(({ spec }) => spec.loadBalancerClass === undefined)
    .filter((service) => hasFinalizer(service, upstreamFinalizer))
  if (left.length === 0) return ''
  const commands = left.map(({ metadata: { namespace, name, finalizers = [] } }) => {
    const others = finalizers.filter((finalizer) => ![...ours, upstreamFinalizer].includes(finalizer))
    const change = JSON.stringify({ metadata: { finalizers: others } })
    return `  kubectl patch service -n ${namespace} ${name} --type=merge -p '${change}'\n`
  })
  return (
    `The finalizer ${upstreamFinalizer} stays on these Services, because \`takeover undo\` may restart the ` +
    'previous program. If it never runs again, no other program removes the finalizer when you delete such a Service. ' +
    `Then run:\n${commands.join('')}`
  )
}

/** A caller that may only remove blocking objects, such as the chart's Job, does not see what else stays. */
async function leftBehind(client: KubeClient, all: Service[]): Promise<string> {
  try {
    const mirrorSlices = await listAll(client, endpointSlices, { labelSelector: mirrorSlicesSelector })
    const announcing = await readAnnouncing(client)
    return whatIsLeft({ services: all, ...announcing, nodes: await listAll(client, nodes), mirrorSlices })
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    return (
      `What remains on nodes, in the announcing software and for the control-plane address is not shown: ${error.message}. To ` +
      'see it, run `eip-admission cleanup` again, as an administrator.\n'
    )
  }
}

const instructions =
  'Nothing was changed. To make these changes, first stop every `eip-admission serve`, then run ' +
  '`eip-admission cleanup --yes`.\n'

const afterwards =
  'eip-admission no longer blocks anything in the cluster. To remove the records too, run ' +
  '`kubectl delete customresourcedefinition elasticips.eip-admission.dev`.\n'

function balancersLeft(all: Service[]): string {
  const balancers = all.flatMap(({ metadata }) => {
    const { id } = shownBalancer(metadata.annotations ?? {})
    return id === undefined ? [] : [`  ${id}  Service ${keyOf({ metadata })}\n`]
  })
  if (balancers.length === 0) return ''
  return `These managed load balancers stay until you delete them and their pools at the provider:\n${balancers.join('')}`
}

function reservationsLeft(records: ElasticIP[]): string {
  const reserved = records.flatMap(({ metadata, status }) =>
    status?.reservationID
      ? [`  ${status.address ?? 'no address yet'}  ${metadata.name}  ${status.reservationID}\n`]
      : [],
  )
  if (reserved.length === 0)
    return "No ElasticIP refers to a reservation. The provider's console shows what the project still pays for.\n"
  return (
    'These addresses stay reserved, and the project pays for them until you delete their reservations at the provider ' +
    `(address, ElasticIP, reservation):\n${reserved.join('')}`
  )
}

/** The leases that our processes hold, and when each was last renewed. */
type Renewals = ReadonlyMap<string, string | undefined>

/** Reads our processes' leases. The chart's Job may not read them, but no process of ours has rights when it runs. */
async function readRenewals(client: KubeClient): Promise<Renewals> {
  const fieldSelector = `metadata.namespace!=${nodeLeaseNamespace}`
  const all = await resultUnless(isForbidden, listAll(client, leases, { fieldSelector }), [])
  const held = all
    // A guardian writes no finalizer.
    .filter(({ metadata }) => metadata.name !== names.controlPlaneLease)
    .filter(({ spec }) => isOwnIdentity(spec?.holderIdentity ?? ''))
  return new Map(held.map((lease) => [keyOf(lease), lease.spec?.renewTime]))
}

/** A leader renews its lease and restores a finalizer within 2 seconds. */
const lookAgainMs = 5_000

/** Checks again, and returns the signs that a `serve` still runs. By then it has left some. */
async function returnedText(
  client: KubeClient,
  { renewals, clock }: { renewals: Renewals; clock: Pick<Clock, 'sleep'> },
): Promise<string | undefined> {
  await clock.sleep(lookAgainMs)
  const [all, records, now] = await Promise.all([
    listAll(client, services),
    listAllKnown(client, elasticIPs),
    readRenewals(client),
  ])
  const held = heldOf(all, records)
  const signs = [
    ...[...now].flatMap(([lease, at]) => (renewals.get(lease) === at ? [] : [`lease ${lease} was renewed`])),
    ...held.services.map((service) => `Service ${keyOf(service)} has a finalizer`),
    ...held.records.map((record) => `ElasticIP ${keyOf(record)} has a finalizer`),
  ]
  if (signs.length === 0) return undefined
  const shown = signs.slice(0, 10)
  const more = signs.length > shown.length ? `  and ${signs.length - shown.length} more\n` : ''
  return (
    `an \`eip-admission serve\` is still running, and is adding finalizers again:\n${shown.map((sign) => `  ${sign}\n`).join('')}${more}` +
    'Stop every `eip-admission serve`, then run `eip-admission cleanup --yes` again.'
  )
}
