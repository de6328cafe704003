import type { Subject } from '../../../announcers/announcer.ts'
import { announcerOf, softwareOf } from '../../../announcers/announcers.ts'
import { type Service, ingressOf, keyOf, splitKey } from '../../../kube/objects.ts'
import { addressConditionOf } from '../../../ledger/record/address-use.ts'
import { type ElasticIP, heldAddress } from '../../../ledger/record/elastic-ip.ts'
import { waitingReason } from '../../../ledger/want/load-balancing-off.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { announcerObjects, announcerProblems } from '../../../inspect/announcer.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import type { Context } from '../../../inspect/facts.ts'
import { heldByServices, isOf, wantOf } from '../../../inspect/wanted.ts'
import { shell } from '../../../lib/remedy.ts'

export const announcerConfiguration = defineCheck({
  id: 'announcer-configuration',
  section: 'Announcing',
  checks:
    'The cluster knows the kinds of the announcing software. Nothing blocks what `serve` writes for it, and it reports no problem.',
  good: 'nothing blocks the announcing software',
  needs: ['announcer', 'services', 'records', 'nodes', 'peers', 'definitions'],
  applies: (context) => announcerObjects(context) !== undefined,
  judge(facts, context) {
    const { loadBalancer } = context.vendor
    if (softwareOf(loadBalancer)?.readsDocument?.(loadBalancer, facts.definitions)) return []
    const { unknown } = facts.announcer
    if (unknown.length > 0) return [unknownKinds(unknown, context)]
    return announcerProblems(facts, context).map(({ subject, message, mayPass }) => {
      const what = 'node' in subject ? `node ${subject.node}` : `Service ${subject.service}`
      return { level: mayPass ? 'warning' : 'error', what: `${what}: ${message}`, ...consequence(subject) }
    })
  },
})

function unknownKinds(unknown: readonly string[], context: Context): Finding {
  return {
    level: 'error',
    what: `the cluster does not know ${unknown.join(' or ')}`,
    why: `${announcerObjects(context)?.from} brings them, so nothing announces the addresses`,
    fix: 'install it, or change the load balancer setting of `serve`',
  }
}

function consequence(subject: Subject): Pick<Finding, 'why' | 'fix'> {
  if ('node' in subject)
    return {
      why: 'no router learns an address from this node through the session',
      fix: shell`kubectl describe node ${subject.node}`,
    }
  const { namespace, name } = splitKey(subject.service)
  return { why: 'nothing announces its address', fix: shell`kubectl describe service -n ${namespace} ${name}` }
}

export const silentAnnouncer = defineCheck({
  id: 'silent-announcer',
  section: 'Announcing',
  checks: 'The announcing software shows in the status of a Service the address that the Service holds.',
  good: 'the announcing software shows every held address',
  needs: ['services', 'records'],
  applies: ({ vendor }) => !['none', 'managed'].includes(vendor.loadBalancer.kind),
  judge: ({ services, records }, context) =>
    heldByServices(services, records, context).flatMap(({ service, text }): Findings => {
      if (!['reserve', 'named'].includes(wantOf(service, context).kind)) return []
      if (ingressOf(service).length > 0) return []
      const { namespace, name } = service.metadata
      return {
        level: 'warning',
        what: `Service ${namespace}/${name} holds ${text}, but its status shows no address`,
        why:
          refusalOf(service, context) ??
          'the announcing software has not taken it: it does not run, or refuses the address',
        fix: shell`kubectl describe service -n ${namespace} ${name}   # its Events, and those of the announcing software`,
      }
    }),
})

/** Why the announcing software refuses the address: in its own words, or as `serve` last reported it. */
function refusalOf(service: Service, { vendor }: Context): string | undefined {
  const condition = addressConditionOf(service)
  const seen = condition?.reason === 'NotAnnounced' ? condition.message : undefined
  return announcerOf(vendor.loadBalancer, vendor.announcerMarks).refusal?.(service) ?? seen
}

export const loadBalancingOff = defineCheck({
  id: 'load-balancing-off',
  section: 'Announcing',
  checks:
    'Without a load balancer setting no Service waits for an address, and none shows one that it holds. Otherwise `serve` has another setting.',
  good: 'load balancing is off; no Service waits for an address, or shows one that it holds',
  needs: ['services', 'records'],
  applies: ({ vendor }) => vendor.loadBalancer.kind === 'none',
  judge({ services, records }, { vendor }) {
    const waiting = waitingReason(services, vendor.policy)
    const showing = services.filter((service) => records.some((record) => shows(service, record)))
    const [first] = showing
    if (first)
      return {
        level: 'warning',
        what: `doctor has no load balancer setting, but Services show addresses that they hold: ${showing.length}, such as ${keyOf(first)}`,
        why: 'without it, announcing, BGP sessions and waiting Services were not checked',
        fix: foundAgain,
      }
    const why = 'doctor has no load balancer setting; `serve` may have one'
    return waiting === undefined ? [] : { level: 'warning', what: waiting, why, fix: foundAgain }
  },
})

const foundAgain = shell`eip-admission doctor   # without flags it reads the Deployment and the Secret of serve; if these have no load balancer setting, set one`

function shows(service: Service, record: ElasticIP): boolean {
  const held = canonicalIpAddress(heldAddress(record) ?? '')
  if (held === undefined || !isOf(record, service)) return false
  return ingressOf(service).some(({ ip = '' }) => canonicalIpAddress(ip) === held)
}
