import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ConfigMap, KubeEvent, Node, WebhookConfiguration } from '../../../kube/objects.ts'
import type { Definition } from '../../../kube/definitions.ts'
import { elasticIPDefinition } from '../../../manifests/elastic-ip-crd.ts'
import type { RoleObject, Values } from '../../../inspect/facts.ts'
import type { Result } from '../../../commands/doctor/check.ts'
import {
  addressLimits,
  cloudAccess,
  cloudPace,
  clusterId,
  location,
  project,
  recentErrors,
} from '../../../commands/doctor/checks/cloud.ts'
import {
  controlPlaneHolder,
  controlPlaneReservation,
  mirrorService,
} from '../../../commands/doctor/checks/control-plane.ts'
import { elasticIPFields } from '../../../commands/doctor/checks/webhooks.ts'
import { roles } from '../../../commands/doctor/checks/rights.ts'
import { settingsWithoutEffect } from '../../../commands/doctor/checks/settings.ts'
import { exitCodeOf, formatReport } from '../../../commands/doctor/report.ts'
import { notRequested } from '../../../ledger/record/requests-in-flight.ts'
import type { Configurations } from '../../../webhooks/webhook-probe.ts'
import { makeLot, makeRecord, makeService } from '../../builders.ts'
import { judge, lines, now } from './context.ts'
import { remedyText } from '../../../lib/remedy.ts'

test('what the provider refuses, and how often', () => {
  const level = (read: Values['cloudReads'][number]) => lines(cloudAccess, { cloudReads: [read] })[0] ?? ''
  assert.match(level({ what: 'the machines' }), /^ok/)
  assert.match(
    level({ what: 'the machines', problem: '401', fault: 'auth' }),
    /^error: Equinix Metal refuses the token for the machines: 401/,
  )
  assert.match(
    level({ what: 'the machines', problem: '429', fault: 'rate-limit' }),
    /^unknown: Equinix Metal did not let doctor read the machines, because of its rate limit/,
  )
  assert.match(
    level({ what: 'the machines', problem: '500', fault: 'unavailable' }),
    /^error: Equinix Metal does not return/,
  )
  assert.match(
    lines(cloudPace, { cloudPace: { calls: 9, limited: 2 } })[0] ?? '',
    /^manual: .* refused 2 of 9 calls of doctor/,
  )
})

test('limits that are reached or near, and the quota of the provider', () => {
  const records = Array.from({ length: 9 }, () => makeRecord({ phase: 'Bound', address: '192.0.2.1' }))
  const of = (max: string, perNamespace: string) =>
    lines(
      addressLimits,
      { records },
      { flags: { '--max-addresses': max, '--max-addresses-per-namespace': perNamespace } },
    )
  assert.match(of('100', '20')[0] ?? '', /^ok/)
  assert.equal(of('10', '9'), [
    'warning: the cluster has 9 of 10 addresses',
    'error: namespace default has 9 of 9 addresses',
  ])
  assert.match(of('none', 'none')[0] ?? '', /^ok/)
  const [one] = records
  const claimed = makeLot('lot', {
    claimRef: { namespace: 'x', name: 'y', elasticIPUID: 'record-1' },
    reclaimPolicy: 'Retain',
  })
  assert.match(
    lines(addressLimits, { records: [one ?? claimed, claimed] }, { flags: { '--max-addresses': '2' } })[0] ?? '',
    /^ok/,
  )
})

test('a quota that is used up is one by its fault, whatever words the provider or we have', () => {
  const of = (reason: Parameters<typeof notRequested>[0], message: string) => {
    const conditions = [notRequested(reason, { message, now })]
    return lines(addressLimits, { records: [makeRecord({ phase: 'Requested', message, conditions })] })[0] ?? ''
  }
  assert.is(of('quota', '406: no more for you'), 'error: default/web waits for an address: 406: no more for you')
  for (const [reason, message] of [
    ['rate-limit', 'answered 429: limit of 3600 requests per hour reached (rate_limit_exceeded)'],
    ['refused', 'the limit of 20 addresses in namespace default is reached (--max-addresses-per-namespace)'],
    ['refused', 'namespace default got 60 new addresses within an hour, 3 times --max-addresses-per-namespace'],
  ] as const)
    assert.match(of(reason, message), /^ok/)
})

test('a cluster id that would change', () => {
  const metadata = { name: 'l', namespace: 'n' }
  const map = { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, metadata, data: { cluster: 'previous' } }
  const of = (ledger: ConfigMap | undefined) => lines(clusterId, { cluster: { id: 'u', uid: 'u', ledger } })[0] ?? ''
  assert.match(of(map), /^error: cluster id: .* have the id previous$/)
  assert.match(of(undefined), /^ok/)
})

test('a project that is not the one of the ledger', () => {
  const metadata = { name: 'l', namespace: 'n' }
  const map = { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, metadata, data: { project: 'previous' } }
  const of = (ledger: ConfigMap | undefined) =>
    lines(project, { cluster: { id: 'u', uid: 'u', ledger }, records: [], reservations: [] })[0] ?? ''
  assert.match(
    of(map),
    /^error: the ledger of this cluster belongs to project previous, .* name project p \(.*METAL_PROJECT_ID/,
  )
  assert.match(of(undefined), /^ok/)
})

test('warnings, unless a later Event of the same component and object says that it went well', () => {
  const event = (
    type: KubeEvent['type'],
    minute: number,
    { component = 'node-peering', name = 'a' } = {},
  ): KubeEvent => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'default' },
    type,
    reason: 'R',
    message: 'm',
    involvedObject: { apiVersion: 'v1', kind: 'Node', name, namespace: 'default' },
    count: 3,
    firstTimestamp: '',
    lastTimestamp: `2026-02-01T11:${minute}:00Z`,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
  })
  const of = (...events: KubeEvent[]) => lines(recentErrors, { events })
  const warning = event('Warning', 30)
  const found = ['warning: R on Node a, 3 times: m']
  assert.equal(of(warning), found)
  assert.match(of(warning, event('Normal', 31))[0] ?? '', /^ok/)
  assert.equal(of(warning, event('Warning', 31)), [...found, ...found])
  assert.equal(of(event('Normal', 29), warning), found)
  assert.equal(of(warning, event('Normal', 31, { component: 'webhook-probe' })), found)
  assert.equal(of(warning, event('Normal', 31, { name: 'b' })), found)
})

test('roles that lack rights, give too many, or bind no subject', () => {
  const role = (...rules: NonNullable<RoleObject['rules']>): RoleObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'r' },
    rules,
  })
  const rule = (verbs: string[], resourceNames?: string[]) => ({
    apiGroups: [''],
    resources: ['secrets'],
    verbs,
    ...(resourceNames && { resourceNames }),
  })
  const of = (wanted: RoleObject, found: RoleObject | undefined) =>
    lines(roles, { roles: [{ wanted, found }], webhooks: { mutating: undefined, validating: undefined } })
  const wanted = role(rule(['get', 'update'], ['a']))
  assert.match(of(wanted, wanted)[0] ?? '', /^ok/)
  assert.match(of(wanted, role(rule(['get'], ['a']), rule(['update'], ['a'])))[0] ?? '', /^ok/)
  assert.equal(of(wanted, undefined), ['error: ClusterRole r does not exist'])
  assert.equal(of(wanted, role(rule(['get'], ['a']))), ['error: ClusterRole r lacks rights: update secrets a'])
  assert.equal(of(wanted, role(rule(['get', 'update']))), [
    'warning: ClusterRole r grants more rights than this version needs: get secrets, update secrets',
  ])
  const outside = { url: 'https://192.0.2.10:10260/secret/reserve' }
  const mutating: WebhookConfiguration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'zz-eip-admission' },
    webhooks: [{ name: 'reserve.eip-admission.dev', clientConfig: outside }],
  }
  const annotations = { 'meta.helm.sh/release-name': 'eip', 'meta.helm.sh/release-namespace': 'infra' }
  const ofHelm = { ...mutating, metadata: { ...mutating.metadata, annotations } }
  const inside = { ...mutating, webhooks: [] }
  const nothing = { mutating: undefined, validating: undefined }
  const remedy = (found: Configurations, flags: Record<string, string> = {}) =>
    remedyText(judge(roles, { roles: [{ wanted, found: undefined }], webhooks: found }, { flags })[0]?.fix ?? '')
  assert.equal(
    [
      remedy({ mutating, validating: undefined }, { '--namespace': 'infra' }),
      remedy({ mutating: inside, validating: undefined }),
      remedy({ mutating: ofHelm, validating: undefined }),
      remedy({ mutating: ofHelm, validating: undefined }, { '--loadbalancer': 'metallb:///m/c' }),
      remedy({ mutating: inside, validating: undefined }, { '--loadbalancer': 'metallb:///m/c' }),
      remedy({ mutating: inside, validating: undefined }, { '--loadbalancer': 'metallb:///m?crdConfiguration=true' }),
      remedy(
        { mutating: inside, validating: undefined },
        { '--load-balancer-manifest': 'manifests/kustomize/base/eip-admission.yaml' },
      ),
    ],
    [
      'eip-admission install --webhook-url=https://192.0.2.10:10260 --namespace=infra',
      'eip-admission install',
      'helm upgrade eip manifests/chart --namespace infra --reset-then-reuse-values',
      'helm upgrade eip manifests/chart --namespace infra --reset-then-reuse-values --set metallb.configMap=c',
      'eip-admission install --loadbalancer=metallb:///m/c',
      "eip-admission install '--loadbalancer=metallb:///m?crdConfiguration=true'",
      'eip-admission install --load-balancer-manifest=manifests/kustomize/base/eip-admission.yaml',
    ],
  )
  assert.is(
    remedy(nothing, { '--namespace': 'infra' }),
    'eip-admission install --namespace=infra   # with --webhook-url where serve runs outside the cluster; ' +
      'if Helm installed it, instead: `helm upgrade RELEASE manifests/chart --namespace infra --reset-then-reuse-values`',
  )
  const everything = role({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] })
  assert.match(of(wanted, everything)[0] ?? '', /^warning: .* more rights than this version needs: \* \*\.\*/)
  const binding = (name: string): RoleObject => ({
    ...role(),
    kind: 'ClusterRoleBinding',
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'n' }],
  })
  assert.equal(of(binding('a'), binding('b')), ['error: ClusterRoleBinding r does not bind ServiceAccount n/a'])
})

test('settings without effect, and variables that are no settings', () => {
  const of = (given: Parameters<typeof lines>[2]) => lines(settingsWithoutEffect, {}, given)
  assert.match(of({})[0] ?? '', /^ok/)
  assert.match(of({ env: { EIP_ADMISSION_SERVICE_HOST: 'x', PATH: 'y' } })[0] ?? '', /^ok/)
  assert.equal(of({ env: { EIP_MAX_ADRESSES: '5' } }), [
    'warning: the variable EIP_MAX_ADRESSES has no effect, because there is no such setting; did you mean EIP_MAX_ADDRESSES?',
  ])
  assert.match(of({ flags: { '--cluster-cidr': 'x' } })[0] ?? '', /^warning: --cluster-cidr has no effect/)
  assert.match(of({ env: { EIP_WARM_POOL: '3' } })[0] ?? '', /^warning: --warm-pool has no effect/)
  assert.match(
    of({ env: { METAL_LOAD_BALANCER_ID: '3b241101-e2bb-4255-8caf-4136c566a962' } })[0] ?? '',
    /^warning: METAL_LOAD_BALANCER_ID/,
  )
})

test('the control-plane address: its tag, its holder, its mirror', () => {
  const given = { env: { METAL_EIP_TAG: 'cp' } }
  const machine = '3b241101-e2bb-4255-8caf-4136c566a962'
  const at = (...machines: string[]) => ({ id: 'r', address: '192.0.2.9', machines, tags: ['cp'], marks: {} })
  const reserved = (...controlPlane: Values['controlPlane']) =>
    lines(controlPlaneReservation, { controlPlane }, given)[0] ?? ''
  assert.match(reserved(at(machine)), /^ok/)
  assert.is(reserved(), 'error: the tag cp finds no reservation')
  assert.match(reserved(at(), at()), /^error: the tag cp finds 2 reservations: r \(192.0.2.9\), r/)
  assert.equal(lines(controlPlaneReservation, { controlPlane: [] }), [], 'without a tag')
  const node = (labels: Record<string, string>): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', labels },
    spec: { providerID: `equinixmetal://${machine}` },
  })
  const held = (labels: Record<string, string>, ...machines: string[]) =>
    lines(controlPlaneHolder, { controlPlane: [at(...machines)], nodes: [node(labels)] }, given)[0] ?? ''
  assert.match(held({ 'node-role.kubernetes.io/control-plane': '' }, machine), /^ok/)
  assert.match(held({ 'node-role.kubernetes.io/master': '' }, machine), /^ok/, 'an old cluster')
  assert.match(held({}, machine), /which is not a control-plane node$/)
  assert.match(held({}), /is assigned to 0 machines$/)
  const mirrored = (loadBalancerIP?: string) =>
    lines(
      mirrorService,
      { controlPlane: [at()], mirror: makeService(loadBalancerIP === undefined ? {} : { loadBalancerIP }) },
      given,
    )[0] ?? ''
  assert.match(mirrored('192.0.2.9'), /^ok/)
  assert.match(mirrored('192.0.2.8'), /^warning: .* shows 192.0.2.8, not 192.0.2.9$/)
  assert.match(mirrored(), /^warning: .* shows no address/)
  assert.match(lines(mirrorService, { controlPlane: [at()], mirror: undefined }, given)[0] ?? '', /does not exist$/)
})

test('equal findings are counted, and checks that lack one fact share a line', () => {
  const finding = (n: number): Result => ({
    section: 'Nodes',
    check: 'provider-ids',
    level: 'error',
    what: `node n-${n} has no providerID`,
    why: 'y',
    fix: `kubectl describe node n-${n}`,
  })
  const unknown = (check: string): Result => ({
    section: 'Webhooks',
    check,
    level: 'unknown',
    what: `${check} could not be checked, because there is no kubeconfig`,
    unread: 'there is no kubeconfig',
  })
  const results = [...Array.from({ length: 300 }, (_, n) => finding(n)), unknown('roles'), unknown('leader')]
  const text = formatReport(results, shown('text')).split('\n')
  assert.equal(
    text.filter((line) => !/why: |fix: /.test(line)),
    [
      'Nodes',
      '  ERROR    node n-0 has no providerID [provider-ids]',
      '  ERROR    node n-1 has no providerID [provider-ids]',
      '  ERROR    node n-2 has no providerID [provider-ids]',
      '  ERROR    and 297 more of provider-ids: doctor --output=json has all',
      '',
      'Not checked',
      '  unknown  roles, leader could not be checked, because there is no kubeconfig',
      '',
      '300 errors, 0 warnings, 0 ok, 2 could not be checked. Nothing was changed.',
      '',
    ],
  )
  assert.is((JSON.parse(formatReport(results, shown('json'))) as { results: Result[] }).results.length, 302)
})

const shown = (format: 'text' | 'json') => ({ format, exitCode: 2, places: [] })

test('the report, its exit code, and text of users that steers no terminal', () => {
  const result = (level: Result['level'], what = 'w'): Result => ({ section: 'Nodes', check: 'c', level, what })
  assert.equal(
    [
      [],
      [result('ok'), result('manual'), result('warning')],
      [result('unknown')],
      [result('unknown'), result('error')],
    ].map((results) => [exitCodeOf(results), exitCodeOf(results, true)]),
    [
      [0, 0],
      [0, 0],
      [2, 0],
      [1, 1],
    ],
  )
  const text = formatReport(
    [{ ...result('error', 'bad\n  ok       \u001b[2Jfine\u202e'), why: 'y', fix: 'f' }],
    shown('text'),
  )
  assert.is(
    text,
    'Nodes\n  ERROR    bad ok [2Jfine [c]\n           why: y\n           fix: f\n\n1 error, 0 warnings, 0 ok. Nothing was changed.\n',
  )
  const places = ['Deployment a/b', 'Secret a/c (d)']
  assert.is(
    formatReport([result('warning'), { ...result('manual', 'look'), fix: 'kubectl x' }], { ...shown('text'), places }),
    'Settings of Deployment a/b and Secret a/c (d)\n\nNodes\n  warning  w [c]\n  manual   look [c]\n           run: kubectl x\n\n' +
      '0 errors, 1 warning, 0 ok, 1 to check manually. Nothing was changed.\n',
  )
  const json = JSON.parse(formatReport([result('unknown')], shown('json'))) as { exitCode: number }
  assert.is(json.exitCode, 2)
  assert.equal(judge(roles, {})[0]?.level, 'unknown')
})

test('a location that the provider does not have', () => {
  const known = (code: string) => ({ code, name: code, kind: 'metro' })
  const of = (...codes: string[]) => lines(location, { locations: codes.map(known) })[0] ?? ''
  assert.match(of('da', 'ny'), /^ok/)
  assert.match(of('dc', 'ny'), /^error: setting METAL_METRO_NAME: "da"/)
})

test('an ElasticIP CRD without a field, and none', () => {
  const definition = structuredClone(elasticIPDefinition) as unknown as Definition
  const of = (found: Definition | undefined) =>
    lines(elasticIPFields, { elasticIPDefinition: found, webhooks: { mutating: undefined, validating: undefined } })[0]
  assert.match(of(definition) ?? '', /^ok/)
  const spec = definition.spec?.versions?.[0]?.schema?.openAPIV3Schema?.properties?.['spec']?.properties ?? {}
  delete spec['reclaimPolicy']
  assert.is(of(definition), 'error: CustomResourceDefinition elasticips.eip-admission.dev lacks spec.reclaimPolicy')
  assert.is(of(undefined), 'error: there is no CustomResourceDefinition elasticips.eip-admission.dev')
})

test.run()
