import { countedAddresses } from '../../../ledger/claim/limits.ts'
import { claimKey, reservationIdOf, type ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { isOverQuota } from '../../../ledger/record/requests-in-flight.ts'
import { locate } from '../../../ledger/want/location.ts'
import { planProject } from '../../../ledger/identity/project-plan.ts'
import { names } from '../../../settings/installed-names.ts'
import { idProblem } from '../../../ledger/cluster.ts'
import type { KubeEvent } from '../../../kube/objects.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import type { CloudRead, Context } from '../../../inspect/facts.ts'
import { shell } from '../../../lib/remedy.ts'

export const cloudAccess = defineCheck({
  id: 'cloud-access',
  section: 'Provider',
  checks:
    'The token may read everything at the provider that `serve` reads. Write access cannot be checked without a write.',
  good: 'the token may read the project, its reservations, machines and BGP',
  needs: ['cloudReads'],
  judge: ({ cloudReads }, { vendor }) => cloudReads.flatMap((read) => failedRead(read, vendor.cloud.name)),
})

function failedRead({ what, problem, fault }: CloudRead, cloud: string): Findings {
  if (problem === undefined) return []
  const why = 'what cannot be read is kept as it is: no address is reserved, moved or released'
  if (fault === 'auth')
    return {
      level: 'error',
      what: `${cloud} refuses the token for ${what}: ${problem}`,
      why,
      fix: `create a token with read and write rights at ${cloud}, put it into the Secret that \`serve\` reads, and restart \`serve\``,
    }
  if (fault === 'rate-limit')
    return {
      level: 'unknown',
      what: `${cloud} did not let doctor read ${what}, because of its rate limit: ${problem}`,
      why: 'doctor reads everything at once, which `serve` does not: this does not mean that the cluster has a problem',
      fix: 'wait a minute and run doctor again; if it persists, give each program that uses the project its own token',
    }
  return {
    level: 'error',
    what: `${cloud} does not return ${what}: ${problem}`,
    why,
    fix: 'check the path from here (proxy, firewall, --base-url) and the status page of the provider, then run doctor again',
  }
}

export const location = defineCheck({
  id: 'location',
  section: 'Provider',
  checks: 'The provider has the location that the settings name.',
  good: 'the provider has the location of the settings',
  needs: ['locations'],
  judge({ locations }, { vendor }) {
    const settings = vendor.policy.locationSources.filter(({ kind }) => kind === 'setting')
    const located = settings.some((one) => one.kind === 'setting' && one.value) && locate({}, settings, locations)
    if (!located || 'location' in located) return []
    const why = 'every Service without its own location is refused'
    const fix = `set ${settings.map(({ name }) => name).join(' or ')} to one of them, and restart \`serve\``
    return { level: 'error', what: located.problem, why, fix }
  },
})

export const cloudPace = defineCheck({
  id: 'rate-limit',
  section: 'Provider',
  checks: 'The provider refused none of these reads because of its rate limit.',
  good: 'the provider refused no call because of its rate limit',
  needs: ['cloudPace'],
  judge({ cloudPace: { calls, limited } }, { vendor }) {
    if (limited === 0) return []
    return {
      // These are doctor's own calls, in a burst. `serve` counts its refused calls in its own metric.
      level: 'manual',
      what: `${vendor.cloud.name} refused ${limited} of ${calls} calls of doctor at first, because of its rate limit`,
      why: 'doctor reads everything at once, which `serve` does not',
      fix: shell`sum(eip_admission_cloud_call_duration_seconds_count{result="rate-limit"})   # in Prometheus: refused calls of \`serve\``,
    }
  },
})

/** The share of a limit from which it is reported, so that there is time to act. */
const nearlyFull = 0.9

export const addressLimits = defineCheck({
  id: 'address-limits',
  section: 'Provider',
  checks:
    'There is room below --max-addresses and --max-addresses-per-namespace, and the provider refused no address for its quota.',
  good: 'the limits and the provider allow more addresses',
  needs: ['records'],
  judge({ records }, { settings: { cluster }, vendor }) {
    const namespaces = countedAddresses(records).map(({ spec }) => spec.claimRef?.namespace)
    return [
      ...usedLimits(namespaces, cluster).flatMap(limitFinding),
      ...records.filter(isOverQuota).map((record) => quotaFinding(record, vendor.cloud.name)),
    ]
  },
})

type UsedLimit = { of: string; count: number; limit: number; flag: string }

/** The limits that are set, and the number of addresses that count towards each. Some addresses are in no namespace. */
export function usedLimits(
  namespaces: readonly (string | undefined)[],
  { maxAddresses, maxAddressesPerNamespace }: Context['settings']['cluster'],
): UsedLimit[] {
  const named = Map.groupBy(namespaces.filter(Boolean), (name) => name)
  const flag = '--max-addresses-per-namespace'
  const all = [
    { of: 'the cluster', count: namespaces.length, limit: maxAddresses, flag: '--max-addresses' },
    ...[...named].map(([name, { length }]) => ({
      of: `namespace ${name}`,
      count: length,
      limit: maxAddressesPerNamespace,
      flag,
    })),
  ]
  return all.flatMap(({ limit, ...one }) => (limit === undefined ? [] : { ...one, limit }))
}

function limitFinding({ of, count, limit, flag }: UsedLimit): Findings {
  if (count < limit * nearlyFull) return []
  const isFull = count >= limit
  return {
    level: isFull ? 'error' : 'warning',
    what: `${of} has ${count} of ${limit} addresses`,
    why: `${isFull ? 'new' : 'at the maximum new'} Services are refused; ${flag} sets the maximum`,
    fix: shell`kubectl get eip -o wide   # delete Services that are not needed, or set a higher ${flag} of \`serve\``,
  }
}

function quotaFinding(record: ElasticIP, cloud: string): Finding {
  return {
    level: 'error',
    what: `${claimKey(record) ?? record.metadata.name} waits for an address: ${record.status?.message}`,
    why: `${cloud} grants no more addresses to this project`,
    fix: `ask ${cloud} for a higher quota, or delete reservations that are not needed`,
  }
}

export const clusterId = defineCheck({
  id: 'cluster-id',
  section: 'Provider',
  checks: "The cluster id is the one in the marks of this cluster's reservations.",
  good: 'the cluster id matches the reservations',
  needs: ['cluster'],
  judge({ cluster: { uid, ledger } }, { settings }) {
    const problem = idProblem({ configured: settings.cluster.clusterId, uid, map: ledger })
    if (!problem) return []
    const why = '`serve` refuses to start: it would not recognize the reservations of this cluster'
    return { level: 'error', what: `cluster id: ${problem.wrong}`, why, fix: problem.right }
  },
})

export const project = defineCheck({
  id: 'project',
  section: 'Provider',
  checks: 'The project of the settings is the one that the ledger remembers, or has its reservations.',
  good: 'the project matches the ledger',
  needs: ['cluster', 'records', 'reservations'],
  judge({ cluster: { id, ledger: map }, records, reservations: listed }, { settings, vendor }) {
    const plan = planProject({
      project: vendor.project,
      at: { namespace: settings.process.namespace, name: names.ledgerConfigMap },
      map,
      held: records.flatMap((record) => reservationIdOf(record) ?? []),
      listed,
      cluster: id,
    })
    if (plan.kind !== 'other') return []
    const { what, remedy: fix } = plan
    return { level: 'error', what, why: '`serve` answers reviews there, and does nothing else', fix }
  },
})

export const recentErrors = defineCheck({
  id: 'recent-errors',
  section: 'Provider',
  checks: 'Every Warning Event of eip-admission in the last hour was followed by a later Event about the same object.',
  good: 'no unresolved warning in the last hour',
  needs: ['events'],
  judge: ({ events }) =>
    events
      .filter((event) => event.type === 'Warning' && !events.some((other) => isSettledBy(event, other)))
      .map(({ involvedObject: { kind, namespace, name }, reason, message, count, metadata }) => ({
        level: 'warning',
        what: `${reason} on ${kind} ${namespace && kind !== 'Node' ? `${namespace}/` : ''}${name}, ${count} times: ${message}`,
        why: 'it happened within the last hour, and may be resolved',
        fix: shell`kubectl get event -n ${metadata.namespace} ${metadata.name} -o yaml`,
      })),
})

/** Whether the same component later reported success with the same object. */
function isSettledBy({ involvedObject, source, lastTimestamp }: KubeEvent, other: KubeEvent): boolean {
  const { kind, namespace, name } = other.involvedObject
  const isSame = involvedObject.kind === kind && involvedObject.namespace === namespace && involvedObject.name === name
  const isLater = Date.parse(other.lastTimestamp) > Date.parse(lastTimestamp)
  return isSame && isLater && other.type === 'Normal' && other.source.component === source.component
}
