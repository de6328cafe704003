// Fields that a controller writes after a Service was stored: applying the manifest again causes no conflict.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { annotationsOf, managersOf } from '../../kube/managed-fields.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import type { Service } from '../../kube/objects.ts'
import { loadBalancer, shown } from './manifests.ts'
import { openStage } from './test-stage.ts'

const ipAnnotation = 'cherryservers.com/loadBalancerIPs'
const stage = await openStage({ dialect: 'cherry-servers' })
await stage.startSwept({ env: dialectOf('cherry-servers').here })
const { faults } = stage.cloud.control

const shapes: [name: string, facts: { spec?: object; annotations?: Record<string, string> }][] = [
  ['plain', {}],
  ['empty-field', { spec: { loadBalancerIP: '' } }],
  ['empty-annotation', { annotations: { [ipAnnotation]: '' } }],
  ['empty-both', { spec: { loadBalancerIP: '' }, annotations: { [ipAnnotation]: '' } }],
]

/** Applies a manifest as Helm 4, Flux and Argo CD do. */
const apply = (manifest: object) =>
  stage.kubectl(['apply', '--server-side', '--field-manager=helm', '-f', '-'], manifest)

/** The address of a Service that shows it everywhere, while we manage no field that people write. */
async function atRest(name: string): Promise<string> {
  const address = await stage.settled(name)
  return eventually('nobody but its user manages its fields', async (observe) => {
    const { metadata } = observe(await stage.service(name)) ?? {}
    const managedFields = metadata?.managedFields ?? []
    const field = managersOf(managedFields, ['spec', 'loadBalancerIP'])
    const annotations = annotationsOf(managedFields, 'eip-admission').filter(
      (one) => !one.startsWith('eip-admission.dev/'),
    )
    return metadata?.annotations?.[ipAnnotation] === address &&
      !field.includes('eip-admission') &&
      annotations.length === 0
      ? address
      : undefined
  })
}

for (const [name, facts] of shapes)
  test(`server-side applies of ${name} after an outage have no conflict`, async () => {
    const manifest = loadBalancer(name, facts as object)
    faults.add({ answer: 503 })
    assert.is((await apply(manifest)).code, 0)
    faults.clear()
    const address = await atRest(name)
    for (const _again of [1, 2]) {
      const { code, stderr } = await apply(manifest)
      assert.is(code, 0, stderr)
      assert.is(await atRest(name), address)
    }
  })

test('a Service gets all that we keep on it at its creation, and back in the same request that drops it', async () => {
  const manifest = loadBalancer('replaced')
  const answers = [await stage.create(manifest)]
  const { resourceVersion: _version, ...metadata } = (manifest as Service).metadata
  for (const _again of [1, 2]) {
    const { code, stdout, stderr } = await stage.kubectl(['replace', '-f', '-', '-o', 'json'], {
      ...manifest,
      metadata,
    })
    assert.is(code, 0, stderr)
    answers.push(JSON.parse(stdout) as Service)
  }
  const address = answers[0]?.spec.loadBalancerIP ?? 'none'
  for (const { metadata: stored, spec } of answers)
    assert.equal([stored.annotations, spec.loadBalancerIP], [{ [shown]: address, [ipAnnotation]: address }, address])
})

test('so have those of a manifest that a controller completed while no webhook answered', async () => {
  const manifest = loadBalancer('missed', { spec: { loadBalancerIP: '' } })
  const webhooks = 'mutatingwebhookconfiguration/zz-eip-admission'
  const stored = await stage.run('get', webhooks, '-o', 'json')
  await stage.run('delete', webhooks)
  assert.is((await apply(manifest)).code, 0)
  const address = await atRest('missed')
  const { code, stderr } = await apply(manifest)
  assert.is(code, 0, stderr)
  assert.is(await atRest('missed'), address)
  const { metadata, ...configuration } = JSON.parse(stored) as { metadata: { name: string; labels?: object } }
  await stage.send(['create'], { ...configuration, metadata: { name: metadata.name, labels: metadata.labels } })
})

test.after(() => stage.close())

test.run()
