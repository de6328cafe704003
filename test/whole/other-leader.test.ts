// While another program holds our lease, admission leaves Services to it: they can be deleted, and nothing is bought.
import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../kube/clock.ts'
import { leaseRecord } from '../../kube/lease.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
const other = `node-a_${randomUUID()}`

/** Holds the lease as a predecessor does, with such a long duration that no pause of the machine ends it. */
async function holdLease(): Promise<{ release(): Promise<void> }> {
  const record = leaseRecord({
    client: stage.client,
    lease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
    identity: other,
    leaseDurationMs: 600_000,
    callTimeoutMs: 60_000,
    clock: systemClock,
  })
  assert.is(await record.claim(), true)
  return record
}

/** The metric of Kubernetes' own programs by which dashboards show the leader. */
async function leaderGauge(product: Awaited<ReturnType<typeof stage.start>>): Promise<number> {
  const { text } = await product.health('/metrics')
  const line = /^leader_election_master_status\{name="cloud-controller-manager"\} (\d)$/m
  return Number(line.exec(text)?.[1])
}

for (const flags of [[], ['--only=webhooks']])
  test(`with ${flags[0] ?? 'controllers and webhooks'}: no finalizer, no reservation, a warning; with the lease, an address`, async () => {
    const holder = await holdLease()
    const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }
    const product = await stage.start({ env, flags })
    stage.cloud.control.calls.clear()
    const created = await eventually('the process knows who leads', async (observe) => {
      const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('theirs'))
      assert.is(code, 0, stderr)
      if (observe(stderr).includes(`${other} leads this cluster`)) return stage.service('theirs')
      await stage.run('delete', 'service', 'theirs', '--wait=false')
      // A Service that was created before the process knew is ours, and stays until we lead.
      await stage
        .run('patch', 'service', 'theirs', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
        .catch(() => '')
      stage.cloud.control.calls.clear()
      return undefined
    })
    assert.equal([created?.metadata.finalizers, created?.spec.loadBalancerIP], [undefined, undefined])
    if (flags.length === 0) assert.is(await leaderGauge(product), 0)
    await stage.run('patch', 'service', 'theirs', '--type=merge', '-p', '{"metadata":{"labels":{"a":"b"}}}')
    assert.is((await stage.service('theirs'))?.metadata.finalizers, undefined)
    assert.is(stage.calls(routes.reserve), 0)
    await stage.run('delete', 'service', 'theirs', '--timeout=60s')

    await stage.create(loadBalancer('waits'))
    await holder.release()
    if (flags.length === 0) {
      const address = await stage.settled('waits')
      assert.ok(stage.reserved().some((one) => one.address === address))
      assert.is(await leaderGauge(product), 1)
    }
    await stage.run('delete', 'service', 'waits', '--timeout=60s')
    await product.stop()
    await stage.run('delete', 'lease', '-n', 'kube-system', 'cloud-controller-manager')
  })

test('a predecessor that has pods beside the leader is a warning Event and a metric', async () => {
  const labels = { app: 'ccm' }
  const containers = [{ name: 'ccm', image: 'registry.example/cloud-provider-equinix-metal:v3.8.1' }]
  await stage.send(['create'], {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'kube-system', name: 'ccm' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  })
  const product = await stage.startSwept({ env: { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' } })
  await eventually('the metric counts it', async (observe) => {
    const { text } = await product.health('/metrics')
    return observe(/^eip_admission_running_predecessors 1$/m.test(text)) || undefined
  })
  await eventually('an Event reports it', async (observe) => {
    const events = ['events', '-n', 'kube-system', '--field-selector', 'reason=PredecessorRuns', '-o', 'json']
    return observe(await stage.run('get', ...events)).includes('is running alongside eip-admission') || undefined
  })
  await product.stop()
})

test.after(() => stage.close())

test.run()
