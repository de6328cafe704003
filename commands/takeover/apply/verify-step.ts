import { listAllKnown } from '../../../controllers/announcing/list-known.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { listAll } from '../../../kube/list-all.ts'
import { type KubeObject, keyOf } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { elasticIPs, recordName } from '../../../ledger/record/elastic-ip.ts'
import { metallbKinds } from '../../../announcers/metallb/resources.ts'
import type { FoundBefore } from '../found.ts'
import type { PlannedService } from '../plan/plan.ts'
import { type Routes, readRoutes } from '../routes.ts'
import type { Missing, TakeoverStep } from '../steps.ts'
import { type SeenService, isThere, leftToTakeOver, serviceProblems } from './verify.ts'
import { counted } from '../../../lib/text.ts'

/** The state after a takeover. */
export type Verified = { services: ServiceResult[]; routes: Routes }

/** A Service in the report of a takeover. */
export type ServiceResult = { service: string; address: string | undefined; isGone: boolean }

type Deps = { client: KubeClient; planned: readonly PlannedService[]; found: FoundBefore }

/** Waits until every Service, and every object of MetalLB, is as the plan says. `results` says what was seen last. */
export function verifyStep(deps: Deps): TakeoverStep & { results(): Verified } {
  const theirs = new Set(deps.found.metallb?.objects.map(({ kind, name }) => `${kind} ${name}`))
  let last: Look | undefined
  return {
    name: 'verify',
    title: `Adopt and verify ${counted(deps.planned.length, 'Services')}`,
    async missing() {
      const { seen, metallb } = (last = await look(deps))
      const open = openOf(seen)
      const left = leftToTakeOver(metallb, theirs)
      if (open || left.length === 0) return open
      const count = theirs.size - left.length
      return { text: `${count} of ${theirs.size} objects of MetalLB are taken over; next ${left[0]}` }
    },
    results() {
      if (!last) throw new Error('the Services were not looked at')
      const { seen, routes } = last
      const services = seen.map((one) => ({
        service: `${one.planned.namespace}/${one.planned.name}`,
        address: one.planned.before,
        isGone: !isThere(one),
      }))
      return { services, routes }
    },
  }
}

/** The count of remaining Services without a problem, and the problems of the next one. */
function openOf(seen: readonly SeenService[]): Missing | undefined {
  const there = seen.filter(isThere)
  const [first, ...more] = there.filter((one) => serviceProblems(one).length > 0)
  if (!first) return undefined
  const { namespace, name } = first.planned
  const count = `${there.length - more.length - 1} of ${there.length}`
  return {
    text: `${count} Services are as planned; Service ${namespace}/${name}: ${serviceProblems(first).join('; ')}`,
    hint: `if it stays so: \`kubectl describe service -n ${namespace} ${name}\``,
  }
}

type Look = { seen: SeenService[]; metallb: KubeObject[]; routes: Routes }

async function look({ client, planned, found }: Deps): Promise<Look> {
  const [stored, records, routes, metallb] = await Promise.all([
    listAll(client, services),
    listAll(client, elasticIPs),
    readRoutes(client),
    metallbObjects(client, found),
  ])
  const byKey = new Map(stored.map((service) => [keyOf(service), service]))
  const byName = new Map(records.map((record) => [record.metadata.name, record]))
  const seen = planned.map((one): SeenService => {
    const key = `${one.namespace}/${one.name}`
    const facts = { planned: one, service: byKey.get(key), record: byName.get(recordName(key)) }
    return { ...facts, metallb: found.metallb && metallb, routes: { before: found.routes, now: routes } }
  })
  return { seen, metallb, routes }
}

async function metallbObjects(client: KubeClient, { metallb }: FoundBefore): Promise<KubeObject[]> {
  if (!metallb) return []
  const { namespace } = metallb
  return (await Promise.all(metallbKinds.map((kind) => listAllKnown(client, kind, { namespace })))).flat()
}
