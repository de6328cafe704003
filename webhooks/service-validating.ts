import type { Location } from '../clouds/cloud.ts'
import type { Service } from '../kube/objects.ts'
import { type Policy, want } from '../ledger/want.ts'
import { allow, mistake } from './decision.ts'
import { validateService } from './identities.ts'
import { newProblems, problemText, serviceOf, shownAddress } from './service-rules.ts'
import type { Webhook } from './webhook.ts'

export type ServiceValidatingDeps = {
  policy: Policy
  locations: () => Location[] | undefined
  isSelf: (user: string) => boolean
}

/** Refuses a Service that asks for something that cannot be, as it stands after all other webhooks. */
export function serviceValidating(deps: ServiceValidatingDeps): Webhook<Service> {
  return {
    ...validateService,
    decide(request) {
      const service = serviceOf(request, deps.isSelf)
      if (!service) return allow()
      const known = deps.locations()
      const now = want(service, deps.policy, known)
      const before = request.oldObject ? want(request.oldObject, deps.policy, known) : undefined
      const problems = newProblems(now, before)
      const shown = shownAddress(request.oldObject)
      if (
        shown !== undefined &&
        now.kind === 'reserve' &&
        before?.kind === 'reserve' &&
        now.location !== before.location
      ) {
        problems.push(
          `its address ${shown} is in ${before.location} and cannot move to ${now.location}: ` +
            'leave the location as it is, or delete the Service and create it there',
        )
      }
      return problems.length > 0 ? mistake(problemText(service, problems)) : allow()
    },
  }
}
