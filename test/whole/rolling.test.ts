// Replicas come and go and certificates change, while reviews arrive constantly and none may fail.
import type { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { certificatesIn, fromCaBundle } from '../../certs/bundle.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { Service } from '../../kube/objects.ts'
import {
  mutatingWebhookConfigurations,
  secrets,
  services,
  validatingWebhookConfigurations,
} from '../../kube/resource.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { runProduct } from '../../sandbox/product.ts'
import { addressesOf, createWhile } from './create-load.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { roundRobin } from './round-robin.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const ports = await freePorts(2)
const control = await roundRobin(ports)
await runProduct([
  'install',
  `--kubeconfig=${stage.controlPlane.kubeconfig}`,
  `--webhook-url=https://127.0.0.1:${control.port}`,
])
const replica = (port: number | undefined, ...flags: string[]) => ({
  env: { METAL_METRO_NAME: 'da' },
  flags: [`--webhook-secure-port=${port}`, '--shutdown-delay-duration=1s', ...flags],
})
const replicas = [await stage.startSwept(replica(ports[0])), await stage.start(replica(ports[1]))]
const client = connect(kubeconfig({ file: stage.controlPlane.kubeconfig }), { userAgent: 'rolling', timeoutMs: 30_000 })
const authority = { namespace: 'eip-admission', name: 'eip-admission-ca' }

async function setFailurePolicy(failurePolicy: 'Ignore' | 'Fail'): Promise<void> {
  for (const resource of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    const stored = await client.get(resource, { name: 'zz-eip-admission' })
    const webhooks = (stored?.webhooks ?? []).map((webhook) => ({ ...webhook, failurePolicy }))
    await client.patch(resource, { name: 'zz-eip-admission', patch: { merge: { webhooks } } })
  }
}

// With Ignore a failed review would pass unnoticed.
await setFailurePolicy('Fail')

/** Sends reviews constantly during `act`; returns how many passed and why the others failed. */
async function underLoad(act: () => Promise<void>, people = 4): Promise<{ passed: number; failed: string[] }> {
  const result = { passed: 0, failed: [] as string[] }
  const over = new AbortController()
  const writer = async (n: number) => {
    const service = { ...loadBalancer(`load-${n}`), metadata: { namespace: 'default', name: `load-${n}` } } as Service
    while (!over.signal.aborted) {
      try {
        await client.create(services, service, { dryRun: true })
        result.passed += 1
      } catch (error) {
        result.failed.push(String(error))
      }
      await sleep(20)
    }
  }
  const writers = Array.from({ length: people }, (_, n) => writer(n))
  try {
    await act()
  } finally {
    over.abort()
    await Promise.all(writers)
  }
  return result
}

const trusted = async () => {
  const stored = await client.get(mutatingWebhookConfigurations, { name: 'zz-eip-admission' })
  return stored?.webhooks?.[0]?.clientConfig.caBundle
}

/** The certificate that a replica presents to a new connection. */
async function shown(port: number): Promise<X509Certificate> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  assert.ok(certificate)
  return certificate
}

test('a rolling restart of both replicas fails no review', async () => {
  const { passed, failed } = await underLoad(async () => {
    for (const round of [0, 1, 2, 3]) {
      const at = round % 2
      const port = ports[at] ?? 0
      const stopping = replicas[at]?.stop('SIGTERM', 60_000)
      control.remove(port)
      assert.is(await stopping, 0)
      replicas[at] = await stage.start(replica(port))
      control.add(port)
    }
  })
  assert.equal(failed, [])
  assert.ok(passed > 20, `${passed} reviews passed`)
})

test('with Ignore, kills of both replicas fail no create, and every Service gets an address of its own', async () => {
  await setFailurePolicy('Ignore')
  stage.cloud.control.quota.set(5_000)
  const creates = await createWhile(client, { prefix: 'killed' }, async () => {
    for (const [at, port] of ports.entries()) {
      await replicas[at]?.stop('SIGKILL')
      replicas[at] = await stage.start(replica(port))
    }
  })
  assert.equal(creates.failed, [])
  assert.is((await addressesOf(client, creates)).length, creates.created.length)
  assert.is(stage.reserved().length, creates.created.length, 'no address is doubled')
  await setFailurePolicy('Fail')
})

for (const { name, harm } of [
  { name: 'deleted', harm: () => client.remove(secrets, authority) },
  {
    name: 'damaged',
    harm: async () =>
      void (await client.patch(secrets, { ...authority, patch: { merge: { data: { 'tls.crt': 'bm8=' } } } })),
  },
]) {
  test(`an authority whose Secret is ${name} is issued again, and no review fails meanwhile`, async () => {
    const before = await trusted()
    const { passed, failed } = await underLoad(async () => {
      await harm()
      await eventually('another authority is trusted', async () => (await trusted()) !== before || undefined, 40_000)
      await sleep(3_000)
    })
    assert.equal(failed, [])
    assert.ok(passed > 20, `${passed} reviews passed`)
  })
}

test('authority and certificates are renewed repeatedly, and no review fails meanwhile', async () => {
  const shortLived = ['--webhook-ca-lifetime=1m', '--webhook-cert-lifetime=20s']
  for (const [at, port] of ports.entries()) {
    await replicas[at]?.stop()
    replicas[at] = await stage.start(replica(port, ...shortLived))
  }
  // The existing authority lasts for a year.
  await client.remove(secrets, authority)
  const [signers, leaves, sizes] = [new Set<string>(), new Set<string>(), new Set<number>()]
  const inAnHour = new Date(Date.now() + 3_600_000)
  const look = async () => {
    // Certificates come first: an authority is trusted before it signs, and long afterwards.
    const leavesNow = []
    for (const port of ports) leavesNow.push(await shown(port))
    const authorities = certificatesIn(fromCaBundle(await trusted()))
    for (const leaf of leavesNow) {
      const signer = authorities.find(({ publicKey }) => leaf.verify(publicKey))
      assert.ok(signer, 'the signer of the certificate is trusted')
      signers.add(signer.fingerprint256)
      leaves.add(leaf.fingerprint256)
    }
    sizes.add(authorities.filter(({ validToDate }) => validToDate < inAnHour).length)
  }
  const { passed, failed } = await underLoad(async () => {
    await eventually(
      'two authorities of a minute have signed',
      async () => {
        await look()
        return signers.size >= 3 || undefined
      },
      150_000,
    )
  }, 2)
  assert.equal(failed, [])
  assert.ok(passed > 20, `${passed} reviews passed`)
  assert.ok(sizes.has(2), 'old and new are trusted while both live')
  assert.ok(leaves.size >= 4, `${leaves.size} certificates were shown`)
  const [, metric = ''] =
    /^eip_admission_cert_not_after_timestamp_seconds (\S+)$/m.exec(
      (await replicas[0]?.health('/metrics'))?.text ?? '',
    ) ?? []
  assert.ok(Number(metric) * 1000 < Date.now() + 21_000)
})

test.after(() => stage.close(control))

test.run()
