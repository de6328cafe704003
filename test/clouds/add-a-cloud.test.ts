// docs/guides/add-a-cloud.md, followed with a toy: what stands in its folder and one line in the list are a cloud. Nothing
// else of the product changes. Everything is imported after that line, as it is where the line stands in the file.
import jsonPatch, { type Operation } from 'fast-json-patch'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Dialect } from '../../clouds/dialect/define-dialect.ts'
import { dialects } from '../../clouds/dialects.ts'
import type { Service } from '../../kube/objects.ts'
import type { Claim } from '../../ledger/claim/claim-spec.ts'
import { makeService } from '../builders.ts'
import { silentLog } from '../fakes/log.ts'
import type { Process } from '../ledger/harness.ts'
import { toyDialect, toyProject } from './toy-cloud.ts'

const list = dialects as Dialect[]
list.push(toyDialect)

const { serveSettings } = await import('../../commands/settings/serve.ts')
const { dialectFacts } = await import('../../commands/settings/chart-facts.ts')
const { readInstallSettings } = await import('../../commands/settings/commands.ts')
const { settingsReference } = await import('../../docs/pages/settings.ts')
const { annotationsReference } = await import('../../docs/pages/annotations.ts')
const { controlPlaneServices } = await import('../../clouds/cloud-choice.ts')
const { mirrorRules } = await import('../../manifests/rbac.ts')
const { announcerOf } = await import('../../announcers/announcers.ts')
const { serviceMutating } = await import('../../webhooks/service-mutating.ts')
const { serviceValidating } = await import('../../webhooks/service-validating.ts')
const { makeHarness, neverAborted } = await import('../ledger/harness.ts')

const env = {
  TOY_API_KEY: 'secret',
  TOY_PROJECT_ID: 'project-1',
  TOY_SHELF: 'top',
  TOY_LOAD_BALANCER: 'empty://?ip-annotation=toy.example/ip',
}
const flags = { '--cloud-provider': 'toycloud' }

async function provider() {
  const { cloud } = serveSettings({ flags, env })
  const tools = { userAgent: 'test', proxy: {}, observe() {}, log: silentLog, signal: neverAborted, reserves: true }
  return cloud.dialect.makeProvider(cloud.settings, tools)
}

test('its settings are read, with their mistakes', () => {
  const { cloud, cluster, warnings } = serveSettings({ flags: { ...flags, '--max-addresses': '7' }, env })
  assert.equal([cloud.dialect.name, cluster.maxAddresses, warnings], ['toy-cloud', 7, []])
  assert.throws(() => serveSettings({ flags, env: {} }), /TOY_API_KEY/)
  assert.throws(() => serveSettings({ flags: { ...flags, '--metro': 'da' }, env }), /not a setting of Toy Cloud/)
  assert.throws(() => serveSettings({ flags: { '--cloud-provider': 'tycloud' }, env }), / or toycloud/)
})

test('the commands, the chart, the rights and the reference know it', () => {
  assert.is(readInstallSettings({ flags: {}, env }).loadBalancer?.kind, 'empty')
  assert.ok(dialectFacts().some(({ name, settings }) => name === 'toy-cloud' && settings.length > 50))
  assert.ok(controlPlaneServices.includes('kube-system/toy-kubernetes-external'))
  assert.ok(mirrorRules.some(({ resourceNames = [] }) => resourceNames.includes('toy-kubernetes-external')))
  assert.match(settingsReference(), '`--annotation-shelf`')
  assert.match(annotationsReference(), '`toy.example/shelf`')
})

/** A cluster in which one process of ours serves the toy. */
async function cluster() {
  const vendor = await provider()
  const scheme = { ...vendor.marks, cluster: 'cluster-1' }
  const harness = makeHarness({ scheme, sweepsUntagged: false, policy: vendor.policy })
  harness.setProject()
  harness.setAdoptionMark()
  const process = harness.alone('a', {
    account: { project: vendor.project.id, cloud: toyProject },
    announcer: announcerOf(vendor.loadBalancer, vendor.announcerMarks),
  })
  const locations = await vendor.cloud.locations(neverAborted)
  const deps = {
    policy: vendor.policy,
    locations: () => locations,
    services: () => [],
    users: () => [],
    families: () => ({ primary: 'IPv4', isDual: false }) as const,
    claim: (claim: Claim, signal: AbortSignal) => process.claims.claim(claim, signal),
    previewClaim: (claim: Claim, signal: AbortSignal) => process.claims.preview(claim, signal),
    held: () => Promise.resolve(undefined),
    exists: () => Promise.resolve(false),
    onCloudFailure: 'defer',
    isSelf: () => false,
    otherLeader: () => undefined,
    ownAddresses: {
      check: <T>(wanted: T) => wanted,
      checkForeign: <T>(wanted: T) => wanted,
      refresh: () => Promise.resolve(),
    },
  } as const
  const request = (object: Service) =>
    ({ uid: 'u', operation: 'CREATE', namespace: 'default', object, oldObject: null }) as const
  return {
    harness,
    process,
    mutate: (object: Service) => serviceMutating(deps).decide(request(object), neverAborted),
    validate: (object: Service) => serviceValidating(deps).decide(request(object), neverAborted),
  }
}

/** Runs the Service controller as its loop does: it looks again after each step. */
async function reconcileUntil(process: Process, isDone: () => boolean): Promise<void> {
  for (let run = 0; run < 10 && !isDone(); run++) await process.reconcile('default/web')
  assert.ok(isDone())
}

test('a Service gets its address in the review, and the address is released when it is deleted', async () => {
  const { harness, process, mutate, validate } = await cluster()
  const decision = await mutate(makeService())
  assert.is(decision.verdict, 'patch')
  if (decision.verdict !== 'patch') return
  const operations = decision.patch as Operation[]
  const service = jsonPatch.applyPatch(makeService(), operations, true, false).newDocument
  const [reservation] = toyProject.reserved()
  assert.equal([reservation?.location, reservation?.marks['usage']], ['top', 'toy-auto'])
  assert.is(service.spec.loadBalancerIP, reservation?.address)
  assert.is((await validate(service)).verdict, 'allow')

  harness.addService(service)
  await reconcileUntil(process, () => harness.record()?.status?.phase === 'Bound')
  assert.is(harness.record()?.spec.claimRef?.uid, service.metadata.uid)

  const { metadata } = service
  harness.addService({ ...service, metadata: { ...metadata, deletionTimestamp: '2026-01-31T10:00:00Z' } })
  await reconcileUntil(process, () => harness.record() === undefined)
  assert.equal([toyProject.reserved(), toyProject.released], [[], [reservation?.id]])
})

test('a review explains mistakes in the terms of the provider', async () => {
  const { validate } = await cluster()
  const mistaken = makeService({ annotations: { 'toy.example/shelv': 'top' } })
  const decision = await validate(mistaken)
  assert.is(decision.verdict, 'deny')
  assert.match(JSON.stringify(decision), 'toy.example/shelf')
})

test.run()
