import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keptAnnotations, sharingProblem } from '../../../ledger/want/own-address.ts'
import { makeService } from '../../builders.ts'

const address = '203.0.113.40'
const [ip, sharingKey] = ['example.com/ip', 'example.com/sharing-key']
const web = (key?: string) => makeService(key === undefined ? {} : { annotations: { [sharingKey]: key } })
const other = (name: string, key: string, namespace = 'default') =>
  makeService({ namespace, name, annotations: { [sharingKey]: key } })

test('the annotations that show the address have it', () => {
  const kept = keptAnnotations(web(), { written: [ip] }, { address, users: [] })
  assert.equal(kept, { [ip]: address })
})

const rows: [what: string, service: ReturnType<typeof web>, users: ReturnType<typeof web>[], key: string][] = [
  ['alone is the address', web(), [], address],
  ['of its user stays', web('team'), [other('a', 'b')], 'team'],
  ['is that of another Service with the address', web(), [other('a', 'team')], 'team'],
  ['of ours follows the one of another user', web(address), [other('a', 'team')], 'team'],
  ['is not that of another namespace', web(), [other('a', 'team', 'elsewhere')], address],
  ['is not its own old one that is empty', web(''), [], address],
  ['is the first of several', web(), [other('a', 'z'), other('b', 'k')], 'k'],
]
for (const [what, service, users, key] of rows)
  test(`the sharing key ${what}`, () => {
    assert.equal(keptAnnotations(service, { sharingKey }, { address, users: [service, ...users] }), {
      [sharingKey]: key,
    })
  })

const shown = (service: ReturnType<typeof web>) => ({
  ...service,
  status: { loadBalancer: { ingress: [{ ip: address }] } },
})
const problems: [what: string, service: ReturnType<typeof web>, others: ReturnType<typeof web>[], says?: string][] = [
  ['of no other Service', web('team'), [web('team'), other('a', 'other')]],
  ['of another namespace', web('team'), [other('a', 'team', 'elsewhere')]],
  ['that is absent', web(), [other('a', 'team')]],
  [
    'of a Service without an address',
    web('team'),
    [other('a', 'team')],
    'annotation example.com/sharing-key: "team" is also that of Service default/a, and alone would not share its address: ' +
      'add annotation example.com/ips with the address of that Service when it has one, or remove this key',
  ],
  [
    'of a Service with an address',
    web('team'),
    [shown(other('a', 'team'))],
    'annotation example.com/sharing-key: "team" is also that of Service default/a, and alone would not share its address: ' +
      `add annotation example.com/ips with "${address}", or remove this key`,
  ],
]
for (const [what, service, others, says] of problems)
  test(`a sharing key ${what}${says === undefined ? '' : ' is a problem'}`, () => {
    assert.is(sharingProblem(service, others, { sharingKey, annotations: ['example.com/ips'] }), says)
  })

test.run()
