import { type Service, keyOf } from '../kube/objects.ts'
import { protectAnnotation } from '../ledger/record/names.ts'
import { allow, deny, type Webhook } from './webhook.ts'
import { protectService } from './identities.ts'
import { type IsSelf, isProtected, isTerminating, serviceOf } from './service-rules.ts'

/** Denies the deletion of a Service whose address is protected. */
export function serviceProtect(deps: { isSelf: IsSelf }): Webhook<Service> {
  return {
    ...protectService,
    decide(request) {
      const service = serviceOf(protectService, request, deps.isSelf)
      if (!service || isTerminating(request) || !isProtected(service)) return allow()
      return deny(
        'forbidden',
        `Service ${keyOf(service)} is protected by annotation ${protectAnnotation}: "true"; ` +
          `set it to "false" first: kubectl annotate service -n ${service.metadata.namespace} ` +
          `${service.metadata.name} ${protectAnnotation}=false --overwrite`,
      )
    },
  }
}
