import { escapeMisleading } from '../log-text.ts'
import { quoted } from './quoted.ts'
import { type Finding, type PlannedObject, type TakeoverPlan, canApply } from './plan.ts'

/** What `takeover plan` prints. */
export type Format = 'text' | 'json'

/** The flags that `apply` needs too, and the files that were written. */
export type Typed = { flags: string; values?: string | undefined; secret?: string | undefined }

/** The plan for people, or for programs. */
export function formatPlan(plan: TakeoverPlan, format: Format, typed: Typed): string {
  return format === 'json' ? asJson(plan) : asText(plan, typed)
}

/** What stands in the way where there is no plan at all. */
export function formatNoPlan(message: string, blockers: readonly Finding[], format: Format): string {
  if (format === 'json') return asJson({ formatVersion: 1, blockers })
  return `There is no plan: ${clean(message)}.\n\n${findings('In the way', blockers)}\n`
}

function asJson(value: object): string {
  return `${escapeMisleading(JSON.stringify(value, null, 2))}\n`
}

function asText(plan: TakeoverPlan, typed: Typed): string {
  const parts = [
    head(plan),
    predecessorText(plan),
    settingsText(plan),
    servicesText(plan),
    reservationsText(plan),
    nodesText(plan),
    announcingText(plan),
    costText(plan),
    findings('Warnings', plan.warnings),
    findings('In the way', plan.blockers),
    nextText(plan, typed),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function head({ predecessor, cluster }: TakeoverPlan): string {
  return `Takeover from ${predecessor.title}, cluster ${clean(cluster.id)}, Kubernetes ${clean(cluster.server)}\n`
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function predecessorText({ predecessor: { workloads, lease, finalizers }, target }: TakeoverPlan): string {
  const rows = workloads.map(({ kind, namespace, name, image, replicas, isRunning }) => [
    `${kind} ${namespace}/${name}`,
    isRunning ? replicasText(replicas) : 'stopped',
    image,
  ])
  const holder = lease.holder === undefined ? 'nobody holds it' : `held by ${lease.holder}`
  const use = lease.isUsed ? holder : 'not used by the predecessor (--leader-elect=false)'
  return section('Predecessor', [
    ...table(rows),
    `Lease ${lease.namespace}/${lease.name}: ${clean(use)}; eip-admission leads by ${target.leaseNamespace}/${target.leaseName}`,
    `its finalizer ${finalizers.join(', ')} stays on its Services, beside ours`,
  ])
}

function replicasText(replicas: number | undefined): string {
  if (replicas === undefined) return 'runs'
  return replicas === 1 ? '1 replica' : `${replicas} replicas`
}

function settingsText({ settings }: TakeoverPlan): string {
  const { source, secret, values, notes } = settings
  const from = source ? `Secret ${source.namespace}/${source.name} (${source.key})` : "the predecessor's environment"
  const fields = secret.fields.map(clean).join(', ')
  const how = secret.how === 'copy' ? 'a copy of' : 'merged from'
  return section('Settings', [
    `from  ${from}: ${fields || 'no fields'}`,
    `to    Secret ${secret.namespace}/${secret.name} (${secret.key}), ${how} the above; its values are never printed`,
    'values of the chart:',
    ...values
      .trimEnd()
      .split('\n')
      .map((line) => `  ${cleanLine(line)}`),
    ...notes.map((note) => `note: ${clean(note)}`),
  ])
}

const heldTexts = {
  reserved: 'its reservation is adopted',
  record: 'is held already',
  own: 'own address of the user',
  balancer: 'managed load balancer',
  'control-plane': 'the control-plane address',
  pending: 'waits for an address',
  ignored: 'not served by us',
} as const

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

function reservationsText({ reservations }: TakeoverPlan): string {
  const rows = reservations.map(({ id, address, whose, service, action }) => [
    id,
    address ?? 'not granted yet',
    whose,
    service ?? '',
    { adopt: 'a record is written', mark: 'a record, and the mark of this cluster', keep: 'nothing is done' }[action],
  ])
  const title = `Reservations (${reservations.length})`
  return section(
    title,
    rows.length === 0 ? ['none'] : table([['ID', 'ADDRESS', 'WHOSE', 'SERVICE', 'ACTION'], ...rows]),
  )
}

/** How many objects are named one by one. With 200 nodes there are hundreds of peers. */
const maxNamed = 40

function nodesText({ nodes }: TakeoverPlan): string {
  const changed = nodes.filter(({ change }) => change !== 'none')
  const named = changed.slice(0, maxNamed)
  const rest = changed.length - named.length
  return section(`Nodes (${nodes.length})`, [
    changed.length === 0 ? 'none changes' : `${changed.length} get other annotations; nothing else of a node changes`,
    ...table(
      named.map(({ name, annotations: [first = '', ...more] }) => [
        name,
        first,
        more.length > 0 ? `and ${more.length} more` : '',
      ]),
    ),
    ...(rest > 0 ? [`and ${rest} more: see -o json`] : []),
  ])
}

const changeTexts = {
  kept: 'stays as it is',
  adopted: 'gets our labels',
  changed: 'changes',
  added: 'is added',
  removed: 'is removed',
} as const

function announcingText({ announcer: { name, objects, interruptedSessions } }: TakeoverPlan): string {
  const counts = Map.groupBy(objects, ({ kind, change }) => `${kind} ${change}`)
  const summary = [...counts.values()].flatMap((group) => {
    const [first] = group
    return first ? [[`${group.length} ${first.kind}`, changeTexts[first.change]]] : []
  })
  const notable = objects.filter(({ change }) => change !== 'kept' && change !== 'adopted')
  const named = notable.slice(0, maxNamed).map(objectRow)
  const rest = notable.length - named.length
  return section(`Announcing (${name})`, [
    ...table(summary),
    ...table(named),
    ...(rest > 0 ? [`and ${rest} more: see -o json`] : []),
    ...(interruptedSessions > 0
      ? [`${interruptedSessions} BGP sessions begin again, in waves: every address keeps a way`]
      : objects.length > 0
        ? ['no BGP session is interrupted']
        : ['nothing is written for it']),
  ])
}

function objectRow({ kind, name, change, fields }: PlannedObject): string[] {
  return [`${kind} ${name}`, changeTexts[change], fields.join(', ')]
}

function costText({ cost: { addressesBefore, addressesAfter } }: TakeoverPlan): string {
  return section('Cost', [
    `${addressesBefore} reservations before, ${addressesAfter} after: nothing is reserved and nothing is deleted at the cloud`,
  ])
}

function findings(title: string, all: readonly Finding[]): string {
  if (all.length === 0) return ''
  const lines = all.flatMap(({ where, what, remedy }) => [`${clean(where)}: ${clean(what)}`, `  do: ${clean(remedy)}`])
  return section(`${title} (${all.length})`, lines)
}

function nextText(plan: TakeoverPlan, { flags, values, secret }: Typed): string {
  if (!canApply(plan))
    return `Blocked: ${countText(plan.blockers.length)} in the way. Nothing was changed. Type next, when that is gone:\n\n  eip-admission takeover plan${flags}\n`
  const { namespace } = plan.target
  const files = [values, secret].filter((file) => file !== undefined)
  const written = files.length === 0 ? '' : ` Written: ${files.map(clean).join(', ')}.`
  const areWritten = files.length === 2
  const secretFile = quoted(secret ?? 'secret.yaml')
  const chart = `helm install eip-admission manifests/chart --namespace ${namespace} --take-ownership`
  return [
    `Ready. Nothing was changed.${written} Type next, only the last line if the chart is installed already:\n`,
    ...(areWritten
      ? []
      : [`  eip-admission takeover plan${flags} --write-values=values.yaml --write-secret=secret.yaml`]),
    `  kubectl create namespace ${namespace}`,
    `  kubectl create -f ${secretFile} && rm ${secretFile}`,
    `  ${chart} --values ${quoted(values ?? 'values.yaml')} --set replicas=0`,
    `  eip-admission takeover apply${flags}\n`,
  ].join('\n')
}

/** Lines of columns, each as wide as its widest text. */
function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(clean))
  const columns = Math.max(0, ...cells.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, n) => Math.max(...cells.map((row) => row[n]?.length ?? 0)))
  return cells.map((row) =>
    row
      .map((text, n) => text.padEnd(widths[n] ?? 0))
      .join('   ')
      .trimEnd(),
  )
}

/** Users write names and annotations: nothing in them may look like a line of ours, or steer the terminal. */
function clean(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}

/** The same for a line of YAML, whose margin counts. */
function cleanLine(text: string): string {
  const [margin = ''] = /^ */.exec(text) ?? []
  return `${margin}${clean(text)}`
}

function countText(count: number): string {
  return count === 1 ? '1 thing stands' : `${count} things stand`
}
