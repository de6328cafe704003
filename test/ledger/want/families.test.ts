import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type ClusterFamilies,
  areFamiliesRefused,
  familiesWanted,
  familyWanted,
  hasOpenFamilies,
  isDualStack,
  withStoredFamilies,
} from '../../../ledger/want/families.ts'
import type { IpFamily } from '../../../lib/ip-address.ts'
import { makeService } from '../../builders.ts'

const four: ClusterFamilies = { primary: 'IPv4', isDual: false }
const six: ClusterFamilies = { primary: 'IPv6', isDual: false }
const fourAndSix: ClusterFamilies = { primary: 'IPv4', isDual: true }
const sixAndFour: ClusterFamilies = { primary: 'IPv6', isDual: true }
const unknown: ClusterFamilies = { primary: 'IPv4', isDual: undefined }

type Facts = Parameters<typeof makeService>[0]
const prefers: Facts = { ipFamilyPolicy: 'PreferDualStack' }
const both: Facts = { ...prefers, ipFamilies: ['IPv4', 'IPv6'] }
const stored: Facts = { ...prefers, ipFamilies: ['IPv4'] }

// The API server sets families after the mutating webhooks. test/whole/families.test.ts shows the same.
const cases: { name: string; facts: Facts; old?: Facts; cluster: ClusterFamilies; becomes: string }[] = [
  { name: 'that requests nothing', facts: {}, cluster: four, becomes: 'SingleStack IPv4' },
  { name: 'that requests nothing, in IPv6', facts: {}, cluster: six, becomes: 'SingleStack IPv6' },
  { name: 'that requests nothing of two', facts: {}, cluster: sixAndFour, becomes: 'SingleStack IPv6' },
  { name: 'of one family', facts: { ipFamilies: ['IPv4'] }, cluster: sixAndFour, becomes: 'SingleStack IPv4' },
  { name: 'with a cluster IP', facts: { clusterIP: 'fd00::7' }, cluster: fourAndSix, becomes: 'SingleStack IPv6' },
  {
    name: 'that names a family and no policy',
    facts: { ipFamilies: ['IPv6'] },
    cluster: fourAndSix,
    becomes: 'SingleStack IPv6',
  },
  {
    name: 'with two cluster IPs',
    facts: { ...prefers, clusterIPs: ['fd00::7', '10.0.0.7'] },
    cluster: fourAndSix,
    becomes: 'PreferDualStack IPv6,IPv4',
  },
  { name: 'that prefers two, where there is one', facts: prefers, cluster: six, becomes: 'PreferDualStack IPv6' },
  { name: 'that prefers two', facts: prefers, cluster: sixAndFour, becomes: 'PreferDualStack IPv6,IPv4' },
  { name: 'that prefers two and names one', facts: stored, cluster: sixAndFour, becomes: 'PreferDualStack IPv4,IPv6' },
  { name: 'that prefers two, nobody knows', facts: prefers, cluster: unknown, becomes: 'PreferDualStack IPv4' },
  {
    name: 'that prefers two from now on',
    facts: stored,
    old: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
    cluster: fourAndSix,
    becomes: 'PreferDualStack IPv4,IPv6',
  },
  {
    name: 'stored when the cluster had one',
    facts: stored,
    old: { ...stored, type: 'ClusterIP' },
    cluster: fourAndSix,
    becomes: 'PreferDualStack IPv4',
  },
  {
    name: 'that gives one of two up',
    facts: { ...both, ipFamilyPolicy: 'SingleStack' },
    old: both,
    cluster: fourAndSix,
    becomes: 'SingleStack IPv4',
  },
  {
    name: 'that was an ExternalName',
    facts: {},
    old: { type: 'ExternalName' },
    cluster: six,
    becomes: 'SingleStack IPv6',
  },
  {
    name: 'of IPv6 that is replaced by a manifest without families',
    facts: {},
    old: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'], clusterIPs: ['fd00::7'] },
    cluster: fourAndSix,
    becomes: 'SingleStack IPv6',
  },
  {
    name: 'of two families that is replaced by a manifest without them',
    facts: {},
    old: { ...both, clusterIPs: ['10.0.0.7', 'fd00::7'] },
    cluster: fourAndSix,
    becomes: 'PreferDualStack IPv4,IPv6',
  },
  { name: 'without cluster IPs', facts: { type: 'ExternalName' }, cluster: six, becomes: 'undefined undefined' },
]
for (const { name, facts, old, cluster, becomes } of cases) {
  test(`a Service ${name} is stored as ${becomes}`, () => {
    const { spec } = withStoredFamilies(makeService(facts), old ? makeService(old) : null, cluster)
    assert.is(`${spec.ipFamilyPolicy} ${spec.ipFamilies?.join()}`, becomes)
  })
}

// test/whole/families.test.ts shows that the API server refuses them.
const named: Facts = { ipFamilies: ['IPv4', 'IPv6'] }
const single: Facts = { ipFamilyPolicy: 'SingleStack' }
const clusterIPs = ['10.0.0.7', 'fd00::7']
const refusals: { name: string; facts: Facts; old?: Facts; cluster?: ClusterFamilies; isRefused: boolean }[] = [
  { name: 'that names none', facts: {}, isRefused: false },
  { name: 'that names two without a policy', facts: named, isRefused: true },
  {
    name: 'that names two without a policy, in a cluster of unknown families',
    facts: named,
    cluster: unknown,
    isRefused: true,
  },
  { name: 'that names two and wants one', facts: { ...named, ...single }, isRefused: true },
  { name: 'with two cluster IPs and no policy', facts: { clusterIPs }, isRefused: true },
  { name: 'that names and prefers two', facts: both, isRefused: false },
  { name: 'that prefers two', facts: prefers, cluster: four, isRefused: false },
  { name: 'that names and prefers two, where there is one', facts: both, cluster: four, isRefused: true },
  { name: 'that requires two', facts: { ipFamilyPolicy: 'RequireDualStack' }, isRefused: false },
  {
    name: 'that requires two, where there is one',
    facts: { ipFamilyPolicy: 'RequireDualStack' },
    cluster: four,
    isRefused: true,
  },
  { name: 'of a family that the cluster lacks', facts: { ipFamilies: ['IPv6'] }, cluster: four, isRefused: true },
  { name: 'of a family that may be there', facts: { ipFamilies: ['IPv6'] }, cluster: unknown, isRefused: false },
  { name: 'of the only family', facts: { ipFamilies: ['IPv6'] }, cluster: six, isRefused: false },
  { name: 'that gives one of two up', facts: { ...both, ...single }, old: both, isRefused: false },
  { name: 'that asks for another besides its own', facts: named, old: { ...stored, ...single }, isRefused: true },
  { name: 'that was an ExternalName and names two', facts: named, old: { type: 'ExternalName' }, isRefused: true },
  {
    name: 'of two that is replaced by a manifest without policy',
    facts: named,
    old: { ...both, clusterIPs },
    isRefused: false,
  },
  {
    name: 'that still requires two in a smaller cluster',
    facts: { ...named, ipFamilyPolicy: 'RequireDualStack' },
    old: { ...named, ipFamilyPolicy: 'RequireDualStack', type: 'ClusterIP' },
    cluster: four,
    isRefused: true,
  },
  { name: 'that keeps its families in a smaller cluster', facts: both, old: both, cluster: four, isRefused: false },
]
for (const { name, facts, old, cluster = fourAndSix, isRefused } of refusals) {
  test(`the API server ${isRefused ? 'refuses' : 'accepts'} the families of a Service ${name}`, () => {
    assert.is(areFamiliesRefused(makeService(facts), old ? makeService(old) : null, cluster), isRefused)
  })
}

test('the families of a Service are open only if the cluster decides and its choice is unknown', () => {
  const isOpen = (facts: Facts, cluster = unknown, old: Facts | null = null) =>
    hasOpenFamilies(makeService(facts), old && makeService(old), cluster)
  assert.equal([isOpen(prefers), isOpen({}), isOpen(prefers, four)], [true, false, false])
  assert.equal([isOpen(stored, unknown, stored), isOpen(stored, unknown, { ipFamilies: ['IPv4'] })], [false, true])
})

test('stored Services show whether the cluster has two families', () => {
  const dual = (...facts: Facts[]) => isDualStack(facts.map((one) => makeService(one)))
  assert.equal(
    [dual(), dual({ ipFamilies: ['IPv4'] }), dual(stored), dual(stored, both)],
    [undefined, undefined, false, true],
  )
})

test('a headless Service shows nothing: the API server stores it with both families in a cluster of one', () => {
  const dual = (...facts: Facts[]) => isDualStack(facts.map((one) => makeService(one)))
  const headless = { ...both, clusterIP: 'None' }
  assert.equal(
    [dual(headless), dual({ ...headless, ...prefers }), dual(stored, headless)],
    [undefined, undefined, false],
  )
})

const ipv4Alone = ['ipv4'] as const
const bothFamilies = ['ipv4', 'ipv6'] as const
const wants: {
  name: string
  facts: Facts
  families: readonly IpFamily[]
  matchesFamilies?: boolean
  family?: IpFamily
  problem?: RegExp
}[] = [
  { name: 'IPv4', facts: { ipFamilies: ['IPv4'] }, families: ipv4Alone, family: 'ipv4' },
  {
    name: 'IPv4, where the provider has both',
    facts: { ipFamilies: ['IPv4'] },
    families: bothFamilies,
    family: 'ipv4',
  },
  {
    name: 'IPv6',
    facts: { ipFamilies: ['IPv6'] },
    families: ipv4Alone,
    problem: /: "IPv6" requests an IPv6 address.*IPv4/,
  },
  {
    name: 'IPv6, where the provider has both',
    facts: { ipFamilies: ['IPv6'] },
    families: bothFamilies,
    family: 'ipv6',
  },
  {
    name: 'IPv6, of any software',
    facts: { ...prefers, ipFamilies: ['IPv6'] },
    families: ipv4Alone,
    matchesFamilies: false,
    problem: /spec\.ipFamilies: "IPv6"/,
  },
  {
    name: 'both',
    facts: { ipFamilyPolicy: 'RequireDualStack' },
    families: ipv4Alone,
    problem: /"RequireDualStack" requests an IPv4 and an IPv6.* one IPv4 address from the provider.*to \["IPv4"\],/,
  },
  {
    name: 'both, where the provider has both',
    facts: { ipFamilyPolicy: 'RequireDualStack' },
    families: bothFamilies,
    problem: /one address from the provider.*\["IPv4"\] or \["IPv6"\]/,
  },
  {
    name: 'both if possible, and has both',
    facts: both,
    families: ipv4Alone,
    problem: /"PreferDualStack" with two families: the announcing software cannot announce/,
  },
  {
    name: 'both if possible, and has both, of other software',
    facts: both,
    families: bothFamilies,
    matchesFamilies: false,
    family: 'ipv4',
  },
  { name: 'both if possible, and has one', facts: stored, families: ipv4Alone, family: 'ipv4' },
  {
    name: 'IPv6 before IPv4',
    facts: { ipFamilies: ['IPv6', 'IPv4'] },
    families: bothFamilies,
    matchesFamilies: false,
    family: 'ipv4',
  },
]
for (const { name, facts, families, matchesFamilies = true, family, problem } of wants) {
  test(`a Service of ${name}: ${problem ? 'is refused' : `gets an ${family} address`}`, () => {
    const wanted = familyWanted(makeService(facts), { families, matchesFamilies })
    if (problem) assert.match(wanted.problem ?? '', problem)
    else assert.equal(wanted, { family })
  })
}

const two = { families: bothFamilies, matchesFamilies: false, isDualStack: true }
const shows = (address: string) => ({ annotations: { 'eip-admission.dev/address': address } })
const required: Facts = { ipFamilyPolicy: 'RequireDualStack' }
const reversed: Facts = { ipFamilies: ['IPv6', 'IPv4'] }
const ofTwo: { name: string; facts: Facts; is: string }[] = [
  { name: 'IPv4 alone', facts: { ipFamilies: ['IPv4'] }, is: 'ipv4' },
  { name: 'IPv6 alone', facts: { ipFamilies: ['IPv6'] }, is: 'ipv6' },
  { name: 'both if possible, and has one', facts: stored, is: 'ipv4' },
  { name: 'both if possible, and has both', facts: both, is: 'ipv4 + ipv6' },
  { name: 'both if possible, IPv6 first', facts: { ...prefers, ...reversed }, is: 'ipv6 + ipv4' },
  { name: 'both', facts: { ...required, ...reversed }, is: 'ipv6 + ipv4!' },
  { name: 'both, of families that nobody knows yet', facts: required, is: 'ipv4 + ipv6!' },
  {
    name: 'both, IPv6 first, that has an IPv4 address of ours',
    facts: { ...required, ...reversed, ...shows('203.0.113.7') },
    is: 'ipv4 + ipv6!',
  },
  { name: 'one, that shows the other', facts: { ipFamilies: ['IPv4'], ...shows('2001:db8::1') }, is: 'ipv4' },
]
for (const { name, facts, is } of ofTwo) {
  test(`where a Service can have two addresses, one of ${name} wants ${is}`, () => {
    const { family, second, problem } = familiesWanted(makeService(facts), two)
    const other = second ? ` + ${second.family}${second.isRequired ? '!' : ''}` : ''
    assert.equal([`${family}${other}`, problem], [is, undefined])
  })
}

test('if it can have only one, nothing changes', () => {
  for (const { facts, families, matchesFamilies = true } of wants) {
    const policy = { families, matchesFamilies, isDualStack: false }
    assert.equal(familiesWanted(makeService(facts), policy), familyWanted(makeService(facts), policy))
  }
})

test.run()
