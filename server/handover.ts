// Which replica leads if one of them cannot reach the provider. They communicate through annotations on their lease.
//
//   this replica  | the provider                       | the lease                               | step
//   --------------+------------------------------------+-----------------------------------------+------------------
//   leads         | answers, or is silent for a moment |                                         | lead
//   leads         | is silent                          | no other replica answered the question  | ask
//   leads         | is silent, and has been since this | another one did                         | ask
//                 | replica gave the lease up before   |                                         |
//   leads         | is silent                          | another one did                         | give up
//   does not lead |                                    | its holder asks, and has no answer      | read the provider
//   does not lead |                                    | all else                                | wait
import type { Cloud } from '../clouds/ports/cloud.ts'
import type { Clock } from '../kube/clock.ts'
import type { ElectionOptions } from '../kube/election.ts'
import { isConflict } from '../kube/errors.ts'
import type { Lease } from '../kube/objects.ts'
import { leases } from '../kube/resource.ts'
import type { Base } from './base.ts'
import { reachedAnnotation, silentAnnotation } from '../ledger/record/names.ts'
import type { Activity } from '../telemetry/activity.ts'

/** Two consecutive calls that end at their time limit. */
const patienceMs = 15_000
/** The others check for a free lease twice a second. */
const hesitationMs = 5_000
const rereadMs = 10_000

export type HandoverFacts = {
  identity: string
  /** How long all calls of this process have failed without an answer. */
  silentMs: number
  /** Whether the provider has answered nothing since this process gave up the lease. */
  isFruitless: boolean
  holder: string
  /** The question of this process, or the one on the lease. */
  question: string | undefined
  reached: string | undefined
}

export type HandoverStep = 'lead' | 'ask' | 'give up' | 'read the provider' | 'wait'

/** Decides the next action of a replica, by the table. Pure. */
export function planHandover({ identity, holder, question, reached, ...cloud }: HandoverFacts): HandoverStep {
  const answerer = question !== undefined && reached?.startsWith(`${question} `) && reached.slice(question.length + 1)
  if (holder !== identity)
    return question?.startsWith(`${holder} `) && holder && !answerer ? 'read the provider' : 'wait'
  if (cloud.silentMs < patienceMs) return 'lead'
  return answerer && answerer !== identity && !cloud.isFruitless ? 'give up' : 'ask'
}

export type Handover = Pick<ElectionOptions, 'annotations' | 'onSeen' | 'hesitationMs'> & {
  /** Leads until the signal aborts, or until another replica has shown that it reaches the provider and we do not. */
  during(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>
}

type Options = Pick<Base, 'leaseClient' | 'identity' | 'log'> & {
  activity: Pick<Activity, 'silentMs' | 'answers'>
  cloud: Pick<Cloud, 'reservations'>
  lease: { namespace: string; name: string }
  clock: Clock
}

/** Hands the lease over from a replica that the provider does not answer to one that has just reached it. */
export function handover(options: Options): Handover {
  const { identity, activity, log, clock } = options
  const answer = answerer(options)
  let question: string | undefined
  let answersAtYield = -1
  let yielding = new AbortController()
  const isFruitless = () => activity.answers() === answersAtYield
  const annotations = () => ({
    [silentAnnotation]: question,
    ...(question === undefined && { [reachedAnnotation]: question }),
  })
  return {
    annotations,
    hesitationMs: () => (activity.silentMs() >= patienceMs || isFruitless() ? hesitationMs : 0),
    onSeen(seen) {
      const { [silentAnnotation]: asked, [reachedAnnotation]: reached } = seen.metadata.annotations ?? {}
      const holder = seen.spec?.holderIdentity ?? ''
      // The term of this process is already ending.
      if (yielding.signal.aborted && holder === identity) return
      const facts = { identity, holder, silentMs: activity.silentMs(), isFruitless: isFruitless(), reached }
      const step = planHandover({ ...facts, question: holder === identity ? question : asked })
      if (step === 'ask') question ??= `${identity} ${clock.date().toISOString()}`
      else if (step === 'read the provider' && asked !== undefined) answer(asked)
      else question = undefined
      if (step !== 'give up') return
      log.warn(
        { silentMs: facts.silentMs, reached },
        'giving the lease up: the provider answers another replica, but not this one',
      )
      answersAtYield = activity.answers()
      yielding.abort()
    },
    async during(lead, signal) {
      yielding = new AbortController()
      await lead(AbortSignal.any([signal, yielding.signal]))
    },
  }
}

/** Answers the leader's question on its lease, if the provider answers us. Otherwise asks the provider again later. */
function answerer({ cloud, leaseClient, lease, identity, log, clock }: Options): (question: string) => void {
  let readAtMs = -Infinity
  const answer = async (question: string) => {
    const signal = AbortSignal.timeout(rereadMs)
    await cloud.reservations({}, signal)
    const stored = await leaseClient.get(leases, lease, { signal })
    if (stored?.metadata.annotations?.[silentAnnotation] !== question) return
    await leaseClient.replace(leases, answered(stored, `${question} ${identity}`), { signal })
    log.info({ question }, 'the provider answers this replica; it told the leader')
  }
  return (question) => {
    if (clock.now() - readAtMs < rereadMs) return
    readAtMs = clock.now()
    answer(question).catch((error: unknown) => {
      // The leader renewed its lease in between.
      if (isConflict(error)) readAtMs = -Infinity
      const reason = error instanceof Error ? error.message : 'no reason given'
      log.debug({ question, error: reason }, 'could not tell the leader that the provider answers')
    })
  }
}

function answered(lease: Lease, reached: string): Lease {
  const annotations = { ...lease.metadata.annotations, [reachedAnnotation]: reached }
  return { ...lease, metadata: { ...lease.metadata, annotations } }
}
