import type { SoftwareCheck } from '../../../announcers/check.ts'
import { softwareOf, softwares } from '../../../announcers/announcers.ts'
import { heldByServices } from '../../../inspect/wanted.ts'
import { classText } from '../../../settings/service-policy.ts'
import type { FactName, Values } from '../../../inspect/facts.ts'
import { type Check, type Findings, defineCheck } from '../check.ts'

/** The checks of all announcing software. */
export const softwareChecks: readonly Check[] = softwares.flatMap(({ kinds, checks = [] }) =>
  checks.map((check) => checkOf(check, kinds)),
)

/** The check of one announcing software with this id. */
export function softwareCheck(id: string): Check {
  const check = softwareChecks.find((one) => one.id === id)
  if (!check) throw new Error(`no announcing software has the check ${id}`)
  return check
}

function checkOf(check: SoftwareCheck, own: readonly string[]): Check {
  const { id, checks, good, needs, kinds: applying = own } = check
  return defineCheck({
    id,
    section: 'Announcing',
    checks,
    good,
    needs: needs.flatMap((need): FactName[] => (need === 'held' ? ['records', 'services'] : [need])),
    applies: ({ vendor }) => applying === 'all' || applying.includes(vendor.loadBalancer.kind),
    judge(facts: Values, context) {
      const held = needs.includes('held') ? heldByServices(facts.services, facts.records, context) : []
      const { loadBalancer, policy, bgp } = context.vendor
      const peerDomain = bgp.annotations.names.localAsn?.split('/')[0] ?? ''
      return check.judge({ ...facts, held }, { loadBalancer, classes: policy.classes, peerDomain })
    },
  })
}

export const servedClasses = defineCheck({
  id: 'served-classes',
  section: 'Announcing',
  checks: 'Announcing software whose classes are fixed announces those that eip-admission serves.',
  good: 'the announcing software announces the classes that eip-admission serves',
  needs: [],
  applies: ({ vendor: { loadBalancer } }) => softwareOf(loadBalancer)?.classes !== undefined,
  judge(_facts, { vendor: { loadBalancer, policy } }): Findings {
    const { classes = [] } = softwareOf(loadBalancer) ?? {}
    const lacking = policy.classes.filter((one) => !classes.includes(one))
    const announced = policy.classes.filter((one) => classes.includes(one))
    const right = announced.length > 0 ? announced : classes.slice(0, 1)
    if (lacking.length === 0) return []
    return {
      level: 'error',
      what: `${loadBalancer.kind} announces no ${lacking.map(classText).join(' and no ')}`,
      why: 'eip-admission reserves addresses for Services that nothing announces',
      fix: `set --load-balancer-class=${right.join(',')} of \`serve\` and \`install\`; ${loadBalancer.kind} announces ${classes.join(' and ')}`,
    }
  },
})
