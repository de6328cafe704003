import { sessionPauseMs } from '../../../controllers/announcing/plan-runner.ts'
import { counted, plainText, shellWord } from '../../../lib/text.ts'
import { names } from '../../../settings/installed-names.ts'
import type { Format } from '../../doctor/report.ts'
import { blockingText } from '../end.ts'
import { isShared } from '../lead-lease.ts'
import {
  type PredecessorWorkload,
  type TakeoverPlan,
  type TakeoverStatus,
  canApply,
  isComplete,
  isDone,
} from '../plan/plan.ts'
import { asJson, plainLine, findings, section, table } from './text.ts'

/** The plan for people, or for programs. `folder`: where the files for the chart were written. */
export function formatPlan(plan: TakeoverPlan, format: Format, folder?: string): string {
  return format === 'json' ? asJson(plan) : asText(plan, folder)
}

function asText(plan: TakeoverPlan, folder: string | undefined): string {
  // After a takeover, its settings and changes are done.
  const ahead = (...parts: ((of: TakeoverPlan) => string)[]) => (isDone(plan) ? [] : parts.map((part) => part(plan)))
  const parts = [
    head(plan),
    predecessorText(plan),
    ...ahead(settingsText),
    servicesText(plan),
    ...ahead(reservationsText, nodesText, announcingText, timeText),
    findings('Warnings', plan.warnings),
    findings('Blockers', plan.blockers),
    nextText(plan, folder),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function head({ predecessor, cluster }: TakeoverPlan): string {
  return `Takeover from ${predecessor.title}, cluster ${plainText(cluster.id)}, Kubernetes ${plainText(cluster.server)}\n`
}

/** The predecessor as it was found. */
function predecessorText({ predecessor: { workloads, lease }, target }: TakeoverPlan): string {
  const rows = workloads.map(({ kind, namespace, name, image, replicas, isRunning }) => [
    `${kind} ${namespace}/${name}`,
    isRunning ? (replicas === undefined ? 'runs' : counted(replicas, 'replicas')) : 'stopped',
    image,
  ])
  const holder = lease.holder === undefined ? 'no process holds it' : `held by ${lease.holder}`
  const use = lease.isUsed ? holder : 'not used by the predecessor (--leader-elect=false)'
  return section('Predecessor', [
    ...table(rows),
    `Lease ${lease.namespace}/${lease.name}: ${plainText(use)}; eip-admission will lead with lease ${target.leaseNamespace}/${target.leaseName}`,
  ])
}

/** The translated settings of the predecessor. */
function settingsText({ settings }: TakeoverPlan): string {
  const { source, secret, values } = settings
  const from = source ? `Secret ${source.namespace}/${source.name} (${source.key})` : "the predecessor's environment"
  const fields = secret.fields.map(plainText).join(', ')
  const how = secret.how === 'copy' ? 'a copy of' : 'merged from'
  return section('Settings', [
    `from  ${from}: ${fields || 'no fields'}`,
    `to    Secret ${secret.namespace}/${secret.name} (${secret.key}), ${how} the above; its values are never printed`,
    'values of the chart:',
    ...values
      .trimEnd()
      .split('\n')
      .map((line) => `  ${plainLine(line)}`),
  ])
}

const heldTexts = {
  reserved: 'its reservation is adopted',
  record: 'is held already',
  own: 'user-chosen address',
  balancer: 'managed load balancer',
  'control-plane': 'the control-plane address',
  pending: 'waits for an address',
  ignored: 'not served by eip-admission',
} as const

/** Each Service and its address. */
function servicesText({ services }: TakeoverPlan): string {
  const rows = services.map(({ namespace, name, before, after, held, reservationID }) => [
    `${namespace}/${name}`,
    before ?? '-',
    before === after ? 'stays' : `-> ${after ?? '?'}`,
    heldTexts[held],
    reservationID ?? '',
  ])
  const title = `Services (${services.length})`
  return section(
    title,
    rows.length === 0 ? ['none'] : table([['SERVICE', 'BEFORE', 'AFTER', 'HOW', 'RESERVATION'], ...rows]),
  )
}

/** The reservations that the list of Services does not show, and their owners. */
function reservationsText({ reservations, services }: TakeoverPlan): string {
  const shown = new Set(services.flatMap(({ reservationID = [] }) => reservationID))
  const others = reservations.filter(({ id, action }) => !shown.has(id) || action === 'mark')
  const rows = others.map(({ id, address, whose, service, action }) => [
    id,
    address ?? 'not granted yet',
    whose,
    service ?? '',
    { adopt: 'a record is written', mark: 'a record, and the mark of this cluster', keep: 'nothing is done' }[action],
  ])
  const count = reservations.length - others.length
  return section(`Reservations (${reservations.length})`, [
    ...(count > 0 ? [`${count} ${count === 1 ? 'is' : 'are'} in the list of Services above`] : []),
    ...(rows.length > 0 ? table([['ID', 'ADDRESS', 'WHOSE', 'SERVICE', 'ACTION'], ...rows]) : []),
    ...(reservations.length === 0 ? ['none'] : []),
    'nothing is reserved and nothing is deleted in the project',
  ])
}

/** More nodes or objects than this with the same change are only counted. */
const maxNamed = 3

/** Lines for things with the same change: each by its name, or all of them as a number and an example. */
function grouped<T>(
  things: readonly T[],
  { alike, row }: { alike: (one: T) => string; row: (one: T) => string[] },
): string[] {
  const rows = [...Map.groupBy(things, alike).values()].flatMap((group) => {
    const [[name = '', ...more] = []] = group.map(row)
    return group.length <= maxNamed ? group.map(row) : [[`${group.length}, such as ${name}`, ...more]]
  })
  return table(rows)
}

/** The changes of nodes. */
function nodesText({ nodes }: TakeoverPlan): string {
  const changed = nodes.filter(({ annotations, removed }) => annotations.length + removed.length > 0)
  return section(`Nodes (${nodes.length})`, [
    changed.length === 0
      ? 'none changes'
      : `the annotations of ${changed.length} change; nothing else about a node changes`,
    ...grouped(changed, {
      alike: ({ annotations, removed }) => [...annotations, '-', ...removed].join(),
      row: ({ name, annotations, removed }) => [
        name,
        ...namesText('writes', annotations),
        ...namesText('removes', removed),
      ],
    }),
  ])
}

/** The change of annotations, with the first of them. */
function namesText(verb: string, [first, ...more]: readonly string[]): string[] {
  return first === undefined ? [] : [`${verb} ${first}${more.length > 0 ? ` and ${more.length} more` : ''}`]
}

const changeTexts = {
  kept: 'stays as it is',
  adopted: 'gets the labels of eip-admission',
  changed: 'changes',
  added: 'is added',
  removed: 'is removed',
} as const

/** The changes of the announcing software's objects. */
function announcingText({ announcer: { name, objects } }: TakeoverPlan): string {
  const interrupted = objects.filter((one) => one.interruptsSession).length
  return section(`Announcing (${name})`, [
    ...grouped(objects, {
      alike: ({ kind, change, fields }) => `${kind} ${change} ${fields.join()}`,
      row: ({ kind, name, change, fields }) => [`${kind} ${name}`, changeTexts[change], fields.join(', ')],
    }),
    ...(interrupted > 0
      ? [`restarts ${counted(interrupted, 'BGP sessions')}, in waves: every address keeps a route`]
      : objects.length > 0
        ? ['no BGP session is interrupted']
        : ['nothing is written for it']),
  ])
}

/** The expected duration, and the time without a leader. */
function timeText({ predecessor, target, announcer: { waves } }: TakeoverPlan): string {
  const isCommon = isShared(predecessor.lease, { namespace: target.leaseNamespace, name: target.leaseName })
  const minutes = Math.ceil((usualMs + waves * sessionPauseMs) / 60_000)
  return section('Time', [
    `about ${counted(minutes, 'minutes')}${waves > 0 ? `, with ${counted(waves, 'waves')} of BGP sessions` : ''}`,
    `no leader for at most 5 seconds after the last pod of the predecessor has ended${isCommon ? ', or 15 if its node and machine have different names, or another program holds the lease' : ''}: new Services wait, and addresses keep their routes`,
  ])
}

/**
 * The usual duration of a takeover without waves: pods start and end, and stopped programs are watched for some time.
 */
const usualMs = 60_000

/** The commands to type next. `folder`: where the files for the chart were written. */
function nextText(plan: TakeoverPlan, folder: string | undefined): string {
  const { status, blockers } = plan
  const blocked = `Blocked: ${blockingText(blockers.length)}. Nothing was changed. Run next, when that is resolved:\n\n  eip-admission takeover plan\n`
  if (isDone(plan)) return doneText(plan)
  if (!status) return canApply(plan) ? readyText(plan, folder) : blocked
  const state = plainText(statusText(status))
  if (status.worker !== undefined) return `Wait: ${state}. Nothing was changed.\n`
  const [onward, back] = commandsOf(status)
  const other = back === 'undo' ? 'go back' : 'take over'
  const next = `Nothing was changed now. To continue:\n\n  eip-admission takeover ${onward}\n`
  // Blockers do not concern `undo`.
  const first = canApply(plan) || onward === 'undo' ? next : blocked
  return `Status: ${state}. ${first}\nTo ${other} instead:\n\n  eip-admission takeover ${back}\n`
}

/** The command that continues a stopped takeover, and the one that reverses it. */
function commandsOf({ recorded }: TakeoverStatus): ['apply', 'undo'] | ['undo', 'apply'] {
  return recorded === 'undoing' ? ['undo', 'apply'] : ['apply', 'undo']
}

/** The state of a takeover, for people. */
function statusText(status: TakeoverStatus): string {
  const { recorded, step, lacking, worker } = status
  const at = `step ${step.number} of ${step.of}: ${step.title}`
  if (worker !== undefined) return `${worker}, at ${at}`
  if (isComplete(status)) return 'the takeover is complete'
  if (recorded === 'applied') return `the takeover was complete, but ${lacking.join(', and ')}`
  return `\`takeover ${commandsOf(status)[0]}\` stopped at ${at}`
}

/** The decision that is left to the person after a takeover. */
function doneText({ predecessor: { workloads, title }, target: { namespace } }: TakeoverPlan): string {
  const removals = workloads.map((workload) => `  ${removalOf(workload)}`)
  return [
    `Complete: eip-admission leads, ${title} is stopped, and nothing is left to do. Nothing was changed now. To go back:\n`,
    '  eip-admission takeover undo',
    `\nIt starts the predecessor again, so that must stay installed. If you stay, remove it and the record of the takeover:\n`,
    ...removals,
    `  kubectl delete configmap -n ${namespace} ${names.takeoverConfigMap}\n`,
  ].join('\n')
}

function removalOf({ kind, namespace, name, helmRelease }: PredecessorWorkload): string {
  if (helmRelease !== undefined) return `helm uninstall -n ${namespace} ${shellWord(helmRelease)}`
  return `kubectl delete ${kind.toLowerCase()} -n ${namespace} ${name}`
}

function readyText({ target: { namespace } }: TakeoverPlan, folder: string | undefined): string {
  const at = (file: string) => shellWord(`${folder ?? 'takeover'}/${file}`)
  const chart = `helm install eip-admission manifests/chart --namespace ${namespace} --take-ownership`
  return [
    'Ready. Nothing was changed. Run next, only the last line if the chart is installed already:\n',
    ...(folder === undefined ? ['  eip-admission takeover plan --write=takeover'] : []),
    `  kubectl create namespace ${namespace}`,
    `  kubectl create -f ${at('secret.yaml')} && rm ${at('secret.yaml')}`,
    `  ${chart} --values ${at('values.yaml')} --set replicas=0`,
    '  eip-admission takeover apply\n',
  ].join('\n')
}
