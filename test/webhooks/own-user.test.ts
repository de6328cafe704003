import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { ownUser } from '../../webhooks/own-user.ts'
import { eventually } from '../whole/eventually.ts'
import { recordedLog } from '../kube/recorded-log.ts'

const serviceAccount = 'system:serviceaccount:eip-admission:eip-admission'
const fieldManager = 'eip-admission'
const refused = new KubeError('create SelfSubjectReview: forbidden', { status: 403, reason: 'Forbidden' })

/** Asks an API server that answers with these users in turn, the last one for ever. */
async function start(...answers: (string | KubeError)[]) {
  const over = new AbortController()
  const client = {
    create: (_resource: unknown, question: object) => {
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer instanceof KubeError) return Promise.reject(answer)
      return Promise.resolve({ ...question, status: { userInfo: { username: answer } } })
    },
  } as Pick<KubeClient, 'create'>
  const log = recordedLog()
  const own = ownUser({ client, namespace: 'eip-admission', log, periodMs: 5 })
  await own.start(over.signal)
  const isSelf = (username: string, manager?: string) =>
    own.isSelf({ userInfo: { username }, options: manager === undefined ? null : { fieldManager: manager } })
  return { isSelf, users: () => log.lines.flatMap(({ fields }) => fields['user'] ?? []), stop: () => over.abort() }
}

const cases: { name: string; answer: string | KubeError; user: string; manager?: string; isSelf: boolean }[] = [
  { name: 'our ServiceAccount', answer: serviceAccount, user: serviceAccount, isSelf: true },
  {
    name: 'a person who is no user of ours',
    answer: serviceAccount,
    user: 'ann',
    manager: fieldManager,
    isSelf: false,
  },
  {
    name: 'our controllers with the kubeconfig of a person',
    answer: 'ann',
    user: 'ann',
    manager: fieldManager,
    isSelf: true,
  },
  { name: 'that person', answer: 'ann', user: 'ann', manager: 'kubectl-edit', isSelf: false },
  { name: 'that person without a field manager', answer: 'ann', user: 'ann', isSelf: false },
  {
    name: 'another person who names our field manager',
    answer: 'ann',
    user: 'bob',
    manager: fieldManager,
    isSelf: false,
  },
  {
    name: 'our ServiceAccount where the API server does not say who this process is',
    answer: refused,
    user: serviceAccount,
    isSelf: true,
  },
]
for (const { name, answer, user, manager, isSelf } of cases) {
  test(`${isSelf ? 'our own' : 'not our own'}: a request of ${name}`, async () => {
    const own = await start(answer)
    assert.is(own.isSelf(user, manager), isSelf)
    own.stop()
  })
}

test('new credentials of another user are noticed, and a failed question keeps the last user', async () => {
  const own = await start('ann', 'ann', refused, 'bob', refused)
  assert.ok(own.isSelf('ann', fieldManager))
  await eventually('the next user is ours', () => own.isSelf('bob', fieldManager) || undefined)
  assert.not(own.isSelf('ann', fieldManager))
  assert.equal(own.users(), ['ann', 'bob'])
  own.stop()
})

test('the period separates two questions', async () => {
  let asked = 0
  const client = {
    create: (_resource: unknown, question: object) => {
      asked += 1
      return Promise.resolve({ ...question, status: { userInfo: { username: 'ann' } } })
    },
  } as Pick<KubeClient, 'create'>
  const over = new AbortController()
  const own = ownUser({ client, namespace: 'eip-admission', log: recordedLog(), periodMs: 3_600_000 })
  await own.start(over.signal)
  // Without a pause each turn of the event loop would ask.
  for (let n = 0; n < 50; n += 1) await turn()
  over.abort()
  await turn()
  assert.is(asked, 1)
})

test.run()
