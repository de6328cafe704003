// Users decide the size of their Services. Neither a restart nor a message may depend on it.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { mapAll } from '../../lib/map-all.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }

/** Some 400 kB of labels. The API server adds nearly as much to managedFields, so 60 Services are more than 32 MiB. */
const labels = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, n) => [`${label(n)}.example/${'n'.repeat(63)}`, 'v'.repeat(63)]),
)

function label(n: number): string {
  return [String(n), ...Array.from({ length: 3 }, () => 'd'.repeat(60))].join('.')
}

const large = Array.from({ length: 60 }, (_, n) => `large-${String(n)}`)

test('a start with more labels than one answer may hold gets ready, and serves', async () => {
  await mapAll(
    large,
    async (name) => {
      const manifest = loadBalancer(name, { spec: { type: 'ClusterIP' } }) as Service
      const metadata = { ...manifest.metadata, namespace: 'default', labels }
      await stage.client.create(services, { ...manifest, metadata })
    },
    4,
  )
  await stage.startSwept({ env })
  const { spec } = await stage.create(loadBalancer('web'))
  assert.ok(spec.loadBalancerIP)
  await stage.settled('web')
})

test('a Service with thousands of mistakes is denied by a short message', async () => {
  const names = Array.from({ length: 4_200 }, (_, n) => `metal.equinix.com/unknown-${String(n)}`)
  const annotations = Object.fromEntries(names.map((name) => [name, 'x'.repeat(10)]))
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('wrong', { annotations }))
  assert.is.not(code, 0)
  assert.match(stderr, '4200 mistakes')
  assert.match(stderr, 'and 4190 more')
  assert.ok(stderr.length < 8_000, `the message has ${stderr.length} characters`)
})

test('a long value is quoted in part', async () => {
  const annotations = { 'eip-admission.dev/reclaim-policy': 'R'.repeat(200_000) }
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('long', { annotations }))
  assert.is.not(code, 0)
  assert.match(stderr, '(200000 characters)')
  assert.ok(stderr.length < 2_000, `the message has ${stderr.length} characters`)
})

test('the log has no long line', () => {
  const longest = Math.max(
    ...readFileSync(stage.logOf('eip-admission'), 'utf8')
      .split('\n')
      .map(({ length }) => length),
  )
  assert.ok(longest < 10_000, `a line has ${longest} characters`)
})

test.after(() => stage.close())

test.run()
