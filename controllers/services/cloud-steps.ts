import type { Key } from '../../kube/objects.ts'
import type { Reconciler } from '../loop/reconciler.ts'
import { type ServiceAddressDeps, serviceAddress } from './service-address.ts'

/*
 * Steps that wait for the cloud have controllers and workers of their own. However long reserves take, they delay no
 * deletion, and no Service that needs nothing of the cloud.
 *
 * Several of these controllers may work on one Service at the same time. The ledger permits that, because the webhook of
 * another replica may do so at any time too: each write is a compare-and-swap.
 */

/** The steps that wait for the cloud. */
export type CloudStep = 'claim' | 'release'

export type StepQueues = { [step in CloudStep]: (key: Key) => void }

/** Carries out every step that does not wait for the cloud, and hands a Service over that needs one that does. */
export function quickSteps(deps: ServiceAddressDeps, queues: StepQueues): Reconciler {
  return serviceAddress({
    ...deps,
    forward: (step, { key }) => {
      if (step.do !== 'claim' && step.do !== 'release') return false
      queues[step.do](key)
      return true
    },
  })
}

/** Carries out one kind of step that waits for the cloud, with the quick ones that follow it. */
export function cloudSteps(kind: CloudStep, deps: ServiceAddressDeps, queues: StepQueues): Reconciler {
  const reconciler = serviceAddress({
    ...deps,
    // No key is forwarded for what a cache shows: two controllers with old caches
    // would forward it to each other without end.
    forward: (step, { key, isLive }) => {
      if (!isLive || step.do === kind || (step.do !== 'claim' && step.do !== 'release')) return false
      queues[step.do](key)
      return true
    },
  })
  return { ...reconciler, name: `service-${kind}` }
}
