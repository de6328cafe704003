import { repeatLater } from '../lib/repeat.ts'
import { serviceFieldManager } from '../ledger/record/names.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { KubeObject } from '../kube/objects.ts'
import { defineResource } from '../kube/resource.ts'
import { serviceAccountUser } from '../settings/installed-names.ts'
import type { IsSelf } from './service-rules.ts'

/** The API server's answer to who sends a request. */
type SelfSubjectReview = KubeObject & {
  apiVersion: 'authentication.k8s.io/v1'
  kind: 'SelfSubjectReview'
  status?: { userInfo?: { username?: string } }
}

const selfSubjectReviews = defineResource<SelfSubjectReview>({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
})

/** How often we ask: the credentials can become another user's at any time. */
const periodMs = 60_000

export type OwnUser = {
  /**
   * Whether a request is our own. Only we use our ServiceAccount. Any other user may also be a person, whose requests
   * the webhooks must review. Then a request is ours only if it has our controllers' field manager, too.
   */
  isSelf: IsSelf
  /** Asks the API server who we are, at once and then every minute until the abort. Resolves after the first answer. */
  start(signal: AbortSignal): Promise<void>
}

/** The user as which the API server knows us; our ServiceAccount until it answers, or if it cannot. */
export function ownUser(deps: {
  client: Pick<KubeClient, 'create'>
  namespace: string
  log: Log
  periodMs?: number
}): OwnUser {
  const serviceAccount = serviceAccountUser(deps.namespace)
  let current = serviceAccount
  const ask = async (signal: AbortSignal) => {
    const user = await readUser(deps, signal)
    if (user === undefined || user === current) return
    current = user
    deps.log.info({ user }, 'the API server knows this process as this user')
  }
  return {
    isSelf: ({ userInfo, options }) =>
      userInfo?.username === serviceAccount ||
      (userInfo?.username === current && options?.fieldManager === serviceFieldManager),
    async start(signal) {
      await ask(signal)
      void repeatLater(ask, { everyMs: deps.periodMs ?? periodMs, signal })
    },
  }
}

/** Our user name; undefined if the API server does not return it. Servers before 1.28 do not support the question. */
async function readUser(
  { client, log }: { client: Pick<KubeClient, 'create'>; log: Log },
  signal: AbortSignal,
): Promise<string | undefined> {
  const question: SelfSubjectReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: 'eip-admission' },
  }
  try {
    const { status } = await client.create(selfSubjectReviews, question, { signal })
    return status?.userInfo?.username
  } catch (error) {
    if (!(error instanceof KubeError)) return undefined
    log.warn({ error: error.message }, 'the API server does not say who this process is: the last known user stays')
    return undefined
  }
}
