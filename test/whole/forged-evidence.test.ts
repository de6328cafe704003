// The writes of a kubelet or a tenant prove nothing against another tenant's Service.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { nodes } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { provisioned } from './available-view.ts'
import { eventually } from './eventually.ts'
import { chosen, loadBalancer, shown } from './manifests.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'
import { warned } from './warned.ts'

const kubelet = 'system:node:evil'
const stage = await openStage({
  users: { [kubelet]: ['system:nodes', 'system:authenticated'] },
  apiServerFlags: ['--authorization-mode=Node', '--enable-admission-plugins=NodeRestriction'],
})
const { controlPlane } = stage
const running = {
  env: { METAL_METRO_NAME: 'da', EIP_WARM_POOL: '1' },
  flags: ['--own-address-ranges=198.51.100.0/24', '--sweep-interval=1s'],
}
let product = await stage.startSwept(running)
for (const namespace of ['owner', 'forger']) await stage.run('create', 'namespace', namespace)

const asKubelet = connect(kubeconfig({ file: controlPlane.kubeconfigFor(kubelet) }), {
  userAgent: 'kubelet',
  timeoutMs: 30_000,
})
const own = (name: string, address: string) =>
  loadBalancer(name, { namespace: 'owner', spec: { loadBalancerIP: address } })
const isShown = (name: string, address: string) =>
  eventually(
    `owner/${name} shows ${address}`,
    async (observe) => shownIn(observe(await stage.service(name, 'owner'))) === address || undefined,
  )

/** Writes these addresses into the status of its Node, as the kubelet. */
const claimAddresses = (...claimed: string[]) =>
  asKubelet.patch(
    nodes,
    {
      name: 'evil',
      patch: { merge: { status: { addresses: claimed.map((address) => ({ type: 'InternalIP', address })) } } },
    },
    { subresource: 'status' },
  )

/** A Service that no webhook reviewed, and that no controller completes. It claims that we assigned its address. */
const forgery = (name: string, address: string) =>
  loadBalancer(name, { namespace: 'forger', annotations: { [shown]: address, 'eip-admission.dev/unknown': 'x' } })

test('a Node that claims every address takes none from a Service, old or new', async () => {
  const [reserved, later] = [await stage.order(), await stage.order()]
  await eventually('the reservation is known', async (observe) => {
    return observe(await stage.kubectl(['create', '-f', '-'], own('brings', reserved.address))).code === 0 || undefined
  })
  await isShown('brings', reserved.address)
  await asKubelet.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'evil' }, spec: {} })
  const spec = { podCIDR: '0.0.0.0/0', podCIDRs: ['0.0.0.0/0'] }
  await asKubelet.patch(nodes, { name: 'evil', patch: { merge: { spec } } })
  await claimAddresses(reserved.address, later.address)

  await stage.create(loadBalancer('fresh', { namespace: 'owner' }))
  await stage.settled('fresh', 'owner')
  await stage.run('label', 'service', 'brings', '-n', 'owner', 'team=web')
  await eventually('the new reservation is known', async (observe) => {
    return observe(await stage.kubectl(['create', '-f', '-'], own('later', later.address))).code === 0 || undefined
  })
  await isShown('later', later.address)
  await isShown('brings', reserved.address)
})

test('a Node that claims the address of a Service holds up no deletion', async () => {
  await stage.create(loadBalancer('short', { namespace: 'owner' }))
  await stage.settled('short', 'owner')
  await claimAddresses((await stage.service('short', 'owner'))?.spec.loadBalancerIP ?? '')
  await stage.run('delete', 'service', 'short', '-n', 'owner', '--timeout=60s')
})

test('what a Node claims in the operator’s ranges is refused until the Node no longer exists, and no longer', async () => {
  await stage.create(own('stays', '198.51.100.30'))
  await isShown('stays', '198.51.100.30')
  await claimAddresses('198.51.100.30', '198.51.100.31')
  await warned(stage, 'owner/stays', /is assigned to node evil/)
  const { stderr } = await eventually('the claim is known', async (observe) => {
    const answer = observe(
      await stage.kubectl(['create', '-f', '-', '--dry-run=server'], own('waits', '198.51.100.31')),
    )
    return answer.code === 1 ? answer : undefined
  })
  assert.match(stderr, '198.51.100.31" is assigned to node evil')
  await product.stop()
  await stage.create(own('waits', '198.51.100.31'))
  product = await stage.startSwept(running)
  await warned(stage, 'owner/waits', /is assigned to node evil/)
  assert.is(shownIn(await stage.service('waits', 'owner')), undefined)
  await isShown('stays', '198.51.100.30')
  await stage.run('delete', 'node', 'evil')
  await isShown('waits', '198.51.100.31')
})

test('a forged annotation is not stored while the address is pending', async () => {
  const { faults } = stage.cloud.control
  faults.add({ answer: 503 })
  const victim = (await stage.service('fresh', 'owner'))?.spec.loadBalancerIP ?? ''
  const manifest = loadBalancer('pending', { namespace: 'forger', annotations: { [shown]: victim, note: 'x' } })
  const pending = await stage.create(manifest)
  assert.equal(pending.metadata.annotations, { note: 'x' })
  faults.clear()
  await stage.settled('pending', 'forger')
})

test('forged annotations hold up no deletion and no claim, and keep the warm pool usable', async () => {
  const victim = await stage.settled('fresh', 'owner')
  const lot = await stage.order()
  await stage.send(['create'], provisioned('lot', lot.id))
  const warm = await eventually('a warm address and a provisioned one', async (observe) => {
    const all = observe(await listAll(stage.client, elasticIPs))
    const free = all.filter(({ status }) => status?.phase === 'Available')
    return free.length === 2
      ? free.find(({ metadata }) => metadata.name.startsWith('warm-'))?.status?.address
      : undefined
  })
  await product.stop()
  for (const [name, address] of Object.entries({ first: victim, second: lot.address, third: warm }))
    await stage.create(forgery(name, address))
  product = await stage.startSwept(running)
  await warned(stage, 'forger/first', /eip-admission\.dev\/unknown/)
  const named = loadBalancer('named', { namespace: 'owner', annotations: { [chosen]: 'lot' } })
  assert.is((await stage.create(named)).spec.loadBalancerIP, lot.address)
  assert.is((await stage.create(loadBalancer('warmed', { namespace: 'owner' }))).spec.loadBalancerIP, warm)
  await stage.run('delete', 'service', 'fresh', '-n', 'owner', '--timeout=60s')
  await stage.gone('fresh', 'owner')
  for (const name of ['first', 'second', 'third'])
    assert.ok((await stage.service(name, 'forger'))?.metadata.annotations?.[shown], 'the forgery is still there')
})

test.after(() => stage.close())

test.run()
