import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP, ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import { assigned } from '../../../ledger/record/status.ts'
import { isFirstUnshown, isSecondWanted } from '../../../ledger/want/wanted.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeRecord, makeService } from '../../builders.ts'

const address = '203.0.113.7'
const six = '2001:db8::7'
const service = makeService({ loadBalancerIP: address })
const claimRef = { namespace: 'default', name: 'web', uid: 'uid-1' }
const record = (phase: 'Bound' | 'Reserved' | 'Releasing' | 'Released', held = address, uid = 'uid-1') =>
  makeRecord({ phase, address: held, reservationID: 'res-1' }, { claimRef: { ...claimRef, uid } })
const held = record('Bound')
const second: ElasticIP = {
  ...makeRecord({ phase: 'Bound', address: six, reservationID: 'res-2' }, { claimRef, ipFamily: 'IPv6' }),
  metadata: { name: 'default.web.ipv6' },
}

const own = (of: string): Want => ({ kind: 'own', address: of, where: 'spec.loadBalancerIP' })
const reserve = (family: 'ipv4' | 'ipv6', hasSecond = true): Want => ({
  kind: 'reserve',
  location: 'da',
  family,
  reclaim: 'Delete',
  warnings: [],
  ...(hasSecond && { second: { family: family === 'ipv4' ? 'ipv6' : 'ipv4', isRequired: true } }),
})
const nothing: Want = { kind: 'nothing', reason: '?' }
const named: Want = { kind: 'named', elasticIP: 'office', family: 'ipv4', warnings: [] }
const undecided: Want = { kind: 'own', address: '198.51.100.9', where: '', doubt: { reason: '?', isDecided: false } }

type Case = { name: string; wanted: Want; first: ElasticIP | undefined; isUnshown: boolean; isWanted: boolean }
const cases: Case[] = [
  { name: 'both, as it says', wanted: reserve('ipv4'), first: held, isUnshown: false, isWanted: true },
  { name: 'what its first record holds', wanted: own(address), first: held, isUnshown: true, isWanted: true },
  {
    name: 'what its first record holds, in other words',
    wanted: own('2001:db8::1'),
    first: record('Bound', '2001:DB8::0001'),
    isUnshown: true,
    isWanted: true,
  },
  {
    name: 'what an earlier Service of the name left',
    wanted: own(address),
    first: record('Reserved', address, 'uid-0'),
    isUnshown: true,
    isWanted: true,
  },
  {
    name: 'what its first record gives back',
    wanted: own(address),
    first: record('Releasing'),
    isUnshown: false,
    isWanted: false,
  },
  {
    name: 'what its first record retains',
    wanted: own(address),
    first: record('Released'),
    isUnshown: false,
    isWanted: false,
  },
  { name: 'what no record holds', wanted: own('198.51.100.9'), first: held, isUnshown: false, isWanted: false },
  { name: 'a user-chosen address that may be none', wanted: undecided, first: held, isUnshown: false, isWanted: true },
  { name: 'a user-chosen address alone', wanted: own(address), first: undefined, isUnshown: false, isWanted: false },
  { name: 'both the other way around', wanted: reserve('ipv6'), first: held, isUnshown: true, isWanted: true },
  {
    name: 'both the other way around, and has none yet',
    wanted: reserve('ipv6'),
    first: undefined,
    isUnshown: false,
    isWanted: false,
  },
  {
    name: 'both, where an earlier Service of the name left the other one',
    wanted: reserve('ipv6'),
    first: record('Bound', address, 'uid-0'),
    isUnshown: false,
    isWanted: false,
  },
  { name: 'one of the other family', wanted: reserve('ipv6', false), first: held, isUnshown: false, isWanted: false },
  { name: 'one', wanted: reserve('ipv4', false), first: held, isUnshown: false, isWanted: false },
  { name: 'an ElasticIP by its name', wanted: named, first: held, isUnshown: false, isWanted: false },
  { name: 'nothing', wanted: nothing, first: held, isUnshown: false, isWanted: false },
]
for (const { name, wanted, first, isUnshown, isWanted } of cases) {
  test(`a Service that wants ${name} ${isWanted ? 'wants' : 'does not want'} its second address`, () => {
    const live = { service, wanted, first }
    assert.equal([isFirstUnshown(live), isSecondWanted(second, live)], [isUnshown, isWanted])
  })
}

type Kept = {
  name: string
  families?: Parameters<typeof makeService>[0]
  uid?: string | undefined
  status?: ElasticIPStatus | undefined
  isKept: boolean
}
const prefers = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] } as const
const conditions = [assigned('False', { reason: 'Lost', message: '', now: new Date(0) })]
const kept: Kept[] = [
  { name: 'of a Service that prefers two', isKept: true },
  { name: 'of one that requires two', families: { ipFamilyPolicy: 'RequireDualStack' }, isKept: true },
  { name: 'that is being released', status: { phase: 'Releasing', address: six }, isKept: true },
  { name: 'whose status a person emptied', status: undefined, isKept: true },
  { name: 'of one that wants one family now', families: { ipFamilyPolicy: 'SingleStack' }, isKept: false },
  { name: 'of one that has one family', families: { ipFamilies: ['IPv4'] }, isKept: false },
  { name: 'that an earlier Service of the name left', uid: 'uid-0', isKept: false },
  { name: 'that no stored Service had', uid: undefined, isKept: false },
  { name: 'that the provider lost', status: { phase: 'Requested', conditions }, isKept: false },
]
for (const { name, families, isKept, ...facts } of kept) {
  test(`where a setting gives one address, the second ${name} ${isKept ? 'stays' : 'does not stay'}`, () => {
    const { uid, status } = { uid: 'uid-1', status: { phase: 'Bound', address: six } as const, ...facts }
    const { uid: _bound, ...unbound } = claimRef
    const of = { claimRef: uid === undefined ? unbound : { ...unbound, uid }, ipFamily: 'IPv6' } as const
    const ofTwo = makeService({ ...prefers, ipFamilies: [...prefers.ipFamilies], ...families })
    const one = { ...makeRecord(status, of), metadata: { name: 'default.web.ipv6' } }
    assert.is(isSecondWanted(one, { service: ofTwo, wanted: reserve('ipv4', false), first: held }), isKept)
  })
}

test.run()
