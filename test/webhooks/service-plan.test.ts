// The fate of a Service's address: one case for each row of the table at planService.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lastAppliedAnnotation, type Service } from '../../kube/objects.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { type PlanFacts, type ServicePlan, planBeside, planService } from '../../webhooks/service-plan.ts'
import { makePolicy, makeService, metros } from '../builders.ts'
import { testRows } from '../drawn-rows.ts'

const ours = '203.0.113.40'
const own = '192.0.2.1'
const markOf = (address: string) => ({ 'eip-admission.dev/address': address })
const mark = markOf(ours)
const shown = { loadBalancerIP: ours, annotations: mark }
const metro = (value: string) => ({ annotations: { 'metal.equinix.com/eip-metro': value } })
const reclaim = (value: string) => ({ annotations: { 'eip-admission.dev/reclaim-policy': value } })
const shownWrong = { ...shown, annotations: { ...mark, ...reclaim('Keep').annotations } }
const prefers = { ipFamilyPolicy: 'PreferDualStack' } as const
const required = { ipFamilyPolicy: 'RequireDualStack' } as const
const twoFamilies: Partial<Policy> = { families: ['ipv4', 'ipv6'], isDualStack: true, matchesFamilies: false }

type Case = {
  name: string
  now?: Service
  old?: Service
  policy?: Partial<Policy>
  isDual?: boolean | undefined
  dryRun?: true
  /** The plan, and what its warnings or problems say. */
  plan: ServicePlan['do']
  text?: RegExp
}

const cases: Case[] = [
  { name: 'of another class', now: makeService({ loadBalancerClass: 'other' }), plan: 'leave' },
  { name: 'of an excluded namespace', policy: { excludedNamespaces: ['default'] }, plan: 'leave' },
  {
    name: 'without load balancing',
    policy: { loadBalancing: false },
    plan: 'leave',
    text: /is off; set --loadbalancer/,
  },
  {
    name: 'without load balancing, whose user was told so',
    old: makeService(),
    policy: { loadBalancing: false },
    plan: 'leave',
    text: /^$/,
  },
  { name: 'that wants none any more', now: makeService({ type: 'ClusterIP', ...shown }), plan: 'take-address' },
  {
    name: 'whose update dropped our annotation alone',
    now: makeService({ loadBalancerIP: ours }),
    old: makeService(shown),
    plan: 'restore',
  },
  {
    name: 'that exchanges ours for one of its own',
    now: makeService({ ...shown, loadBalancerIP: own }),
    old: makeService(shown),
    plan: 'leave',
  },
  { name: 'with one of its own', now: makeService({ loadBalancerIP: own }), plan: 'keep-own' },
  ...ownRequestCases(),
  { name: 'with a wrong annotation', now: makeService(reclaim('Keep')), plan: 'deny', text: /"Keep"/ },
  {
    name: 'that was wrong before',
    now: makeService({ ...reclaim('Keep'), ports: [{ port: 81 }] }),
    old: makeService(reclaim('Keep')),
    plan: 'leave',
  },
  {
    name: 'that is wrong in another way now',
    now: makeService(reclaim('Drop')),
    old: makeService(reclaim('Keep')),
    plan: 'deny',
    text: /"Drop"/,
  },
  {
    name: 'that is as wrong as before, whose update dropped ours',
    now: makeService(reclaim('Keep')),
    old: makeService(shownWrong),
    plan: 'restore',
  },
  {
    name: 'that is as wrong as before, and shows ours with another annotation of ours',
    now: makeService({ ...shown, annotations: { ...reclaim('Keep').annotations, ...markOf(own) } }),
    old: makeService(shownWrong),
    plan: 'restore',
  },
  {
    name: 'that is as wrong as before, and exchanges ours for one of its own',
    now: makeService({ ...shownWrong, loadBalancerIP: own }),
    old: makeService(shownWrong),
    plan: 'leave',
  },
  {
    name: 'that is as wrong as before, and exchanges ours for one that it calls ours',
    now: makeService({ loadBalancerIP: own, annotations: { ...reclaim('Keep').annotations, ...markOf(own) } }),
    old: makeService(shownWrong),
    plan: 'leave',
  },
  {
    name: 'that is as wrong as before, and calls an address ours that we did not give',
    now: makeService({ loadBalancerIP: own, annotations: { ...reclaim('Keep').annotations, ...markOf(own) } }),
    old: makeService(reclaim('Keep')),
    plan: 'take-address',
  },
  { name: 'whose update dropped ours', now: makeService(), old: makeService(shown), plan: 'restore' },
  {
    name: 'whose update changes its ports',
    now: makeService({ ports: [{ port: 81 }] }),
    old: makeService(),
    plan: 'store-without',
    text: /^$/,
  },
  { name: 'whose update changes its location', now: makeService(metro('sv')), old: makeService(), plan: 'claim' },
  {
    name: 'of as many families as the cluster has, which nobody knows',
    now: makeService(prefers),
    isDual: undefined,
    plan: 'store-without',
    text: /when the API server has chosen the families/,
  },
  {
    name: 'of families that nobody knows, and with a wish that has no effect',
    now: makeService({
      ...prefers,
      annotations: { 'eip-admission.dev/elastic-ip': 'office', ...metro('sv').annotations },
    }),
    isDual: undefined,
    plan: 'store-without',
    text: /eip-metro.*when the API server has chosen the families/,
  },
  {
    name: 'of two families in a cluster with one',
    now: makeService(required),
    policy: twoFamilies,
    plan: 'store-without',
    text: /^$/,
  },
  { name: 'of two families', now: makeService(required), policy: twoFamilies, isDual: true, plan: 'claim' },
  {
    name: 'that names two families without a policy',
    now: makeService({ ipFamilies: ['IPv4', 'IPv6'] }),
    policy: twoFamilies,
    isDual: true,
    plan: 'store-without',
    text: /^$/,
  },
  {
    name: 'that names two families without a policy, in a dry run',
    now: makeService({ ipFamilies: ['IPv4', 'IPv6'] }),
    isDual: true,
    dryRun: true,
    plan: 'store-without',
    text: /^$/,
  },
  {
    name: 'that shows one of ours, and wants two families now',
    now: makeService({ ...shown, ...required }),
    old: makeService(shown),
    policy: twoFamilies,
    isDual: true,
    plan: 'claim-second',
  },
  {
    name: 'that would show two, in a dry run',
    now: makeService({ ...shown, ...required }),
    old: makeService(shown),
    policy: twoFamilies,
    isDual: true,
    dryRun: true,
    plan: 'preview-second',
  },
  {
    name: 'that waits for its second one already',
    now: makeService({ ...shown, ...required, ports: [{ port: 81 }] }),
    old: makeService({ ...shown, ...required }),
    policy: twoFamilies,
    isDual: true,
    plan: 'restore',
  },
  {
    name: 'that wants two families now, in a cluster with one',
    now: makeService({ ...shown, ...required }),
    old: makeService(shown),
    policy: twoFamilies,
    plan: 'restore',
  },
  { name: 'in a dry run', dryRun: true, plan: 'preview' },
  { name: 'that is new', plan: 'claim' },
  { name: 'that becomes a LoadBalancer', old: makeService({ type: 'ClusterIP' }), plan: 'claim' },
]

/** A Service whose update takes its own address from the spec and leaves, or writes, a request annotation for it. */
function ownRequestCases(): Case[] {
  const name = 'metallb.io/loadBalancerIPs'
  const annotations = { [name]: own }
  const finalizers = [serviceFinalizer]
  const inSpec = makeService({ loadBalancerIP: own, finalizers })
  const inBoth = makeService({ loadBalancerIP: own, finalizers, annotations })
  const by = (...managers: string[]) =>
    managers.map((manager) => ({ manager, fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${name}`]: {} } } } }))
  const asks = (facts: Partial<Service['metadata']>) => makeService({ finalizers, annotations, ...facts })
  const manifest = JSON.stringify({ metadata: { annotations } })
  const [ours, users] = [by('eip-admission'), by('kubectl')]
  return [
    {
      name: 'with one of its own, in the spec and in an annotation',
      now: inBoth,
      plan: 'keep-own',
      text: /remove spec\.loadBalancerIP/,
    },
    {
      name: 'whose own address moves to an annotation',
      now: asks({ managedFields: users }),
      old: inSpec,
      plan: 'keep-own',
    },
    { name: 'that had its own address in both', now: asks({ managedFields: users }), old: inBoth, plan: 'keep-own' },
    {
      name: 'that applies our annotation as its own',
      now: asks({ managedFields: [...ours, ...users] }),
      old: inBoth,
      plan: 'keep-own',
    },
    {
      name: 'that has our annotation in its manifest now',
      now: asks({ managedFields: ours, annotations: { ...annotations, [lastAppliedAnnotation]: manifest } }),
      old: inBoth,
      plan: 'keep-own',
    },
    {
      name: 'that is replaced by a manifest with our annotation',
      now: asks({ managedFields: ours, finalizers: [] }),
      old: inBoth,
      plan: 'keep-own',
    },
    { name: 'of which nobody knows who wrote it', now: asks({}), old: inBoth, plan: 'keep-own' },
    {
      name: 'that takes its own address away, and leaves what we wrote',
      now: asks({ managedFields: ours }),
      old: inBoth,
      plan: 'claim',
    },
    {
      name: 'that takes its own address away, and leaves what nobody owns any more',
      now: asks({ managedFields: by() }),
      old: inBoth,
      plan: 'claim',
    },
  ]
}

for (const { name, now = makeService(), old = null, policy, dryRun, plan, text, ...facts } of cases) {
  test(`a Service ${name}: ${plan}`, () => {
    const known: PlanFacts = {
      policy: { ...makePolicy({ metro: 'da' }), ...policy },
      locations: metros,
      families: { primary: 'IPv4', isDual: 'isDual' in facts ? facts.isDual : false },
    }
    const planned = planService({ service: now, old, dryRun }, known)
    assert.is(planned.do, plan)
    const texts = planned.do === 'deny' ? planned.problems : 'warnings' in planned ? planned.warnings : []
    if (text) assert.match(texts.join(), text)
  })
}

test('a plan to restore names the address that the stored Service shows', () => {
  const facts = { policy: makePolicy({ metro: 'da' }), locations: metros } as const
  const families = { primary: 'IPv4', isDual: false } as const
  const plan = planService({ service: makeService(), old: makeService(shown) }, { ...facts, families })
  assert.equal(plan, { do: 'restore', shown: ours })
})

const held = makeService({ finalizers: ['eip-admission.dev/address-cleanup'] })
const wanted = { kind: 'reserve', warnings: [] } as never
const second = { family: 'ipv6', isRequired: false } as never
const beside: { name: string; plan: ServicePlan; old?: Service; is: ServicePlan['do']; warns?: true }[] = [
  { name: 'none of ours', plan: { do: 'leave' }, is: 'leave' },
  { name: 'that calls an address ours', plan: { do: 'take-address' }, is: 'take-address' },
  { name: 'that is wrong', plan: { do: 'deny', problems: ['x'] }, is: 'deny' },
  { name: 'that shows one of ours', plan: { do: 'restore', shown: ours }, old: held, is: 'restore' },
  {
    name: 'with an address of its own',
    plan: { do: 'keep-own', address: own, warnings: [] },
    is: 'leave',
    warns: true,
  },
  {
    name: 'with an address of its own, which we serve',
    plan: { do: 'keep-own', address: own, warnings: [] },
    old: held,
    is: 'keep-own',
  },
  { name: 'without an address', plan: { do: 'claim', wanted }, is: 'leave', warns: true },
  { name: 'without an address, in a dry run', plan: { do: 'preview', wanted }, is: 'leave', warns: true },
  {
    name: 'without an address, which we serve',
    plan: { do: 'claim', wanted },
    old: held,
    is: 'store-without',
    warns: true,
  },
  { name: 'that waits', plan: { do: 'store-without', warnings: [] }, is: 'leave', warns: true },
  {
    name: 'that lacks a second one',
    plan: { do: 'claim-second', wanted, second, shown: ours },
    old: held,
    is: 'restore',
  },
]

for (const { name, plan, old = null, is, warns = false } of beside)
  test(`while another program leads, a Service ${name}`, () => {
    const now = planBeside('node-a_uuid', plan, old)
    assert.is(now.do, is)
    const warnings = 'warnings' in now ? (now.warnings ?? []) : []
    assert.is(
      warnings.some((one) => one.includes('node-a_uuid leads this cluster')),
      warns,
    )
  })

testRows(
  'webhooks/service-plan.ts',
  cases.map(({ name, plan }) => [name, plan]),
  [
    'of another class',
    'without load balancing',
    'that wants none any more',
    'whose update dropped our annotation alone',
    'that exchanges ours for one of its own',
    'with one of its own',
    'with a wrong annotation',
    'that is as wrong as before, whose update dropped ours',
    'that is as wrong as before, and exchanges ours for one of its own',
    'that is as wrong as before, and calls an address ours that we did not give',
    'that was wrong before',
    'that shows one of ours, and wants two families now',
    'whose update dropped ours',
    'whose update changes its ports',
    'of as many families as the cluster has, which nobody knows',
    'that names two families without a policy',
    'in a dry run',
    'that is new',
  ],
)

test.run()
