// The Service controller withdraws an address before it releases it: its steps, on the ledger.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcer } from '../../../announcers/announcer.ts'
import { empty, emptySoftware } from '../../../announcers/empty.ts'
import { metallbPoolAnnotations, unusedPoolName } from '../../../announcers/metallb/names.ts'
import { kubeVip } from '../../../announcers/kube-vip/kube-vip.ts'
import type { Announcement } from '../../../controllers/announcing/announcing.ts'
import type { ServiceEvent } from '../../../controllers/services/service-condition.ts'
import { isWithdrawalAsked } from '../../../controllers/services/removal-plan.ts'
import { type WithdrawalDeps, withdraw } from '../../../controllers/services/withdrawal.ts'
import type { Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { addressAnnotation, serviceFinalizer, withdrawingAnnotation } from '../../../ledger/record/names.ts'
import type { Policy } from '../../../settings/service-policy.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import type { Hooks } from '../../fakes/interposed.ts'
import { makeHarness, type Harness, type Process, usualPolicy } from '../../ledger/harness.ts'

const disabled = { 'metallb.universe.tf/address-pool': 'disabled' }
const software: Announcer = {
  name: 'metallb',
  withdrawal: { annotations: disabled, clearsStatus: true },
  request: () => ({}),
}
const withdrawal = { ...disabled, [withdrawingAnnotation]: '2026-01-31T09:00:00Z' }
const at = { namespace: 'default', name: 'web' }

type Play = Harness & {
  address: string
  look(): Promise<number | undefined>
  service(): Service | undefined
  change(change: (service: Service) => Service): void
  network: Map<string, Announcement>
  cloudHooks: Hooks
  /** The calls of the Service controller since the Service was settled. */
  events: string[]
  /** As admission claims its address. */
  claim(): ReturnType<Process['claim']>
}

/** A Service that has its address, which the announcing software shows. */
async function announced(announcer: Announcer = software, policy: Partial<Policy> = {}): Promise<Play> {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const network = new Map<string, Announcement>()
  const cloudHooks: Hooks = {}
  const events: string[] = []
  const process = harness.alone('a', {
    announcer,
    policy,
    events,
    cloud: cloudHooks,
    findAnnouncement: (address) => network.get(address),
  })
  const service = () => harness.api.stored<Service>(services).find(({ metadata }) => metadata.name === 'web')
  const change: Play['change'] = (changed) => {
    const stored = service()
    if (stored) harness.api.put(services, changed(stored))
  }
  harness.addService(makeService())
  await process.reconcile('default/web')
  const address = service()?.spec.loadBalancerIP ?? ''
  network.set(address, { services: [] })
  change((stored) => ({ ...stored, status: { loadBalancer: { ingress: [{ ip: address }] } } }))
  const look = async () => (await process.reconcile('default/web')).againInMs
  events.length = 0
  const claim = () => process.claim()
  return { ...harness, cloudHooks, events, claim, address, look, service, change, network }
}

const leaving = (service: Service): Service => ({
  ...service,
  metadata: { ...service.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' },
})
const cleared = (service: Service): Service => ({ ...service, status: { loadBalancer: {} } })

test('the software is asked to withdraw, and the address is released after it did', async () => {
  const play = await announced()
  play.change(leaving)
  assert.is(await play.look(), 500)
  const asked = play.service()
  assert.is(asked?.metadata.annotations?.['metallb.universe.tf/address-pool'], 'disabled')
  assert.is(asked?.spec.loadBalancerIP, undefined)
  assert.ok(asked?.metadata.annotations?.[withdrawingAnnotation], 'an operator sees since when')
  assert.is(play.reservationsOf().length, 1)

  play.change(cleared)
  assert.is(await play.look(), 500, 'no Service shows it, but the network still learns it from our configuration')
  assert.is(play.reservationsOf().length, 1)
  assert.equal(play.service()?.metadata.finalizers, [serviceFinalizer])

  play.network.clear()
  await play.look()
  assert.is(play.reservationsOf().length, 0)
  assert.is(play.service(), undefined)
})

test('software that was removed delays a Service for a minute, not forever', async () => {
  const play = await announced()
  play.change(leaving)
  play.network.clear()
  assert.is(await play.look(), 500)
  play.advance(59_000)
  assert.is(await play.look(), 500)
  assert.is(play.reservationsOf().length, 1)
  play.advance(2_000)
  await play.look()
  assert.is(play.reservationsOf().length, 0)
  assert.is(play.service(), undefined)
})

test('the address of a Service that vanished without its finalizer is not released while it is announced', async () => {
  const play = await announced()
  play.change((service) => leaving({ ...service, metadata: { ...service.metadata, finalizers: [] } }))
  assert.is(play.service(), undefined)
  assert.is(await play.look(), 500)
  assert.is(play.reservationsOf().length, 1)
  play.network.clear()
  await play.look()
  assert.is(play.reservationsOf().length, 0)
})

test('for software that withdraws only on deletion the Service is deleted first, then the address is released', async () => {
  const play = await announced({
    name: 'kube-vip',
    withdrawsOnlyOnDeletion: { restoring: () => undefined, afterReturn: 'it does. Restart it' },
    request: () => ({}),
  })
  play.network.clear()
  let wasThere: boolean | undefined
  play.cloudHooks.before = ({ verb }) => {
    if (verb === 'release') wasThere = play.service() !== undefined
  }
  play.change(leaving)
  await play.look()
  assert.is(wasThere, false)
  assert.is(play.reservationsOf().length, 0)
})

/** As the API server and admission leave it. */
const ofOtherType = (service: Service): Service => {
  const { loadBalancerIP: _, ...spec } = service.spec
  const { 'eip-admission.dev/address': __, ...annotations } = service.metadata.annotations ?? {}
  return { ...cleared(service), metadata: { ...service.metadata, annotations }, spec: { ...spec, type: 'ClusterIP' } }
}

test('a Service that is no longer a LoadBalancer loses example.com/ip before its address is released', async () => {
  const annotation = 'example.com/ip'
  const chosen = { kind: 'empty', ipAnnotation: annotation } as const
  const play = await announced(empty({ ipAnnotation: annotation }), {
    requestAnnotations: emptySoftware.requests(chosen),
  })
  const said = () => play.service()?.metadata.annotations?.[annotation]
  assert.is(said(), play.address)
  play.network.clear()
  let before: string | undefined = 'nothing was released'
  play.cloudHooks.before = ({ verb }) => {
    if (verb === 'release') before = said()
  }
  play.change((service) => ({ ...cleared(service), spec: { ...service.spec, type: 'ClusterIP' } }))
  await play.look()
  assert.equal([before, said(), play.reservationsOf()], [undefined, undefined, []])
  assert.equal(play.service()?.metadata.finalizers ?? [], [])
  assert.is(play.service()?.metadata.annotations?.[withdrawingAnnotation], undefined)
})

for (const [how, change] of Object.entries({
  'as admission leaves it': ofOtherType,
  'without admission': (service: Service): Service => ({
    ...cleared(service),
    metadata: {
      ...service.metadata,
      annotations: {
        ...service.metadata.annotations,
        'kube-vip.io/loadbalancerIPs': service.spec.loadBalancerIP ?? '',
      },
    },
    spec: { ...service.spec, type: 'ClusterIP' },
  }),
})) {
  test(`kube-vip keeps announcing a Service of another type, so its address stays until the Service no longer exists: ${how}`, async () => {
    const play = await announced(kubeVip())
    const phase = () => play.record()?.status?.phase
    play.network.clear()
    play.change(change)
    for (const elapsedMs of [0, 60_000, 24 * 3_600_000]) {
      play.advance(elapsedMs)
      await play.look()
      assert.equal([phase(), play.reservationsOf().length], ['Releasing', 1])
    }
    const { metadata, spec } = play.service() ?? makeService()
    assert.equal([spec.loadBalancerIP, metadata.annotations, metadata.finalizers], [undefined, {}, [serviceFinalizer]])
    const warnings = play.events.filter((event) => event.startsWith('Warning'))
    assert.equal(warnings, [
      `Warning kube-vip announces ${play.address} until Service default/web is deleted, so its reservation stays. ` +
        'To release the address, delete the Service; to use it again, make the Service a LoadBalancer again',
    ])
    assert.match(
      play.record()?.status?.conditions?.find(({ type }) => type === 'Assigned')?.message ?? '',
      'is deleted',
    )

    let wasThere: boolean | undefined
    play.cloudHooks.before = ({ verb }) => {
      if (verb === 'release') wasThere = play.service() !== undefined
    }
    play.change(leaving)
    await play.look()
    assert.equal([wasThere, play.reservationsOf(), play.service()], [false, [], undefined])
  })
}

test('a Service that is a LoadBalancer again has its old address, and a warning where kube-vip may not announce it', async () => {
  const play = await announced(kubeVip())
  play.network.clear()
  for (const isServedByAdmission of [true, false]) {
    play.change(ofOtherType)
    await play.look()
    assert.is(play.record()?.status?.phase, 'Releasing')
    play.change((service) => ({ ...service, spec: { ...service.spec, type: 'LoadBalancer' } }))
    if (isServedByAdmission) assert.is((await play.claim()).kind, 'held')
    play.events.length = 0
    await play.look()
    assert.equal([play.record()?.status?.phase, play.service()?.spec.loadBalancerIP], ['Bound', play.address])
    const warnings = play.events.filter((event) => event.startsWith('Warning'))
    assert.match(warnings.join(), /kube-vip may announce nothing for it: .* Restart it/)
    assert.is(warnings.length, 1)
  }
})

test('the address of a Service that a foreign finalizer keeps is not released while the Service exists', async () => {
  const play = await announced(kubeVip())
  play.network.clear()
  play.change((service) =>
    leaving({ ...service, metadata: { ...service.metadata, finalizers: [serviceFinalizer, 'example.com/theirs'] } }),
  )
  await play.look()
  assert.equal(play.service()?.metadata.finalizers, ['example.com/theirs'])
  assert.is(play.reservationsOf().length, 1)
  play.change((service) => ({ ...service, metadata: { ...service.metadata, finalizers: [] } }))
  await play.look()
  assert.equal([play.reservationsOf(), play.service()], [[], undefined])
})

test('a withdrawal is undone when the Service shows an address again', async () => {
  const play = await announced()
  play.change((service) => ({
    ...service,
    metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, ...withdrawal } },
  }))
  await play.look()
  const { annotations } = play.service()?.metadata ?? {}
  assert.is(annotations?.['metallb.universe.tf/address-pool'], undefined)
  assert.is(play.service()?.spec.loadBalancerIP, play.address)
})

test("a person's own address stays on the Service, and a withdrawal of it is undone", async () => {
  const play = await announced()
  const own = '198.51.100.7'
  play.addService({
    ...makeService({ ...at, name: 'web', uid: 'uid-2', loadBalancerIP: own, finalizers: [serviceFinalizer] }),
    metadata: { ...at, uid: 'uid-2', finalizers: [serviceFinalizer], annotations: withdrawal },
  })
  await play.look()
  assert.is(play.service()?.spec.loadBalancerIP, own)
  assert.is(play.service()?.metadata.annotations?.['metallb.universe.tf/address-pool'], undefined)
})

test('an address that another Service shows is not released, and the error says why', async () => {
  const play = await announced()
  play.change((service) => leaving(cleared(service)))
  play.network.set(play.address, { services: ['default/web', 'default/other'] })
  const message = await play.look().catch((error: Error) => error.message)
  assert.is(message, `address ${play.address} is not released while another Service shows it: default/other`)
  assert.is(play.reservationsOf().length, 1)
})

test('an address is not released while, by the caches, its own Service still shows it', async () => {
  const play = await announced()
  play.change((service) => leaving(cleared(service)))
  play.network.set(play.address, { services: ['default/web'] })
  assert.is(await play.look(), 500)
  assert.is(play.reservationsOf().length, 1)
  play.network.clear()
  await play.look()
  assert.is(play.reservationsOf().length, 0)
})

const [held, other] = ['203.0.113.7', '203.0.113.8']
const mayNotHave = 'The Service may not have the address that it shows; eip-admission withdraws it'
for (const [what, annotated, requested, message] of [
  ['has no address from us', undefined, undefined, mayNotHave],
  ['requests another address than it has from us', held, other, mayNotHave],
  [
    'has an address from us',
    held,
    held,
    `The provider no longer has address ${held}; eip-admission reserves another one`,
  ],
] as const)
  test(`the Event of a withdrawal from a Service that ${what}`, async () => {
    const api = apiServer()
    const service = makeService({
      ...(annotated !== undefined && { annotations: { [addressAnnotation]: annotated } }),
      ...(requested !== undefined && { loadBalancerIP: requested }),
    })
    const told: ServiceEvent[] = []
    const deps: WithdrawalDeps = {
      client: api.client,
      announcer: software,
      requestAnnotations: usualPolicy.requestAnnotations,
      want: () => ({ kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] }),
      now: () => new Date(0),
      event: (_service, event) => void told.push(event),
    }
    await withdraw(deps, api.put(services, service))
    assert.equal(told, [{ type: 'Warning', reason: 'SyncLoadBalancerFailed', message }])
  })

test('a Service that has only a part of what asks for a withdrawal is not believed', () => {
  const announcer = { withdrawal: { annotations: { pool: 'off', ip: null }, clearsStatus: true } }
  const isAsked = (annotations: Record<string, string>) =>
    isWithdrawalAsked(makeService({ annotations: { [withdrawingAnnotation]: '', ...annotations } }), announcer)
  assert.equal([isAsked({ pool: 'off' }), isAsked({}), isAsked({ pool: 'off', ip: '::' })], [true, false, false])
})

test('of two Services that share a user-chosen address, one can be deleted', async () => {
  const play = await announced()
  const own = '198.51.100.7'
  const facts = { ...at, uid: 'uid-2', finalizers: [serviceFinalizer], deletionTimestamp: '2026-01-31T09:00:00Z' }
  play.addService(makeService({ ...facts, loadBalancerIP: own }))
  play.network.clear()
  play.network.set(own, { services: ['default/other'] })
  await play.look()
  assert.is(play.service(), undefined)
})

test('a withdrawal from MetalLB that other software completes leaves no pool annotation behind', async () => {
  const pools = Object.fromEntries(metallbPoolAnnotations.map((name) => [name, unusedPoolName]))
  const own = { 'metallb.io/address-pool': 'mine' }
  for (const chosen of [{}, own]) {
    const harness = makeHarness()
    harness.setAdoptionMark()
    const annotations = { ...pools, ...chosen, [withdrawingAnnotation]: '2026-01-31T09:00:00Z' }
    harness.addService(makeService({ type: 'ClusterIP', annotations, finalizers: [serviceFinalizer] }))
    await harness.alone('b', { announcer: empty() }).reconcile('default/web')
    const [service] = harness.api.stored<Service>(services)
    assert.equal(service?.metadata.annotations ?? {}, chosen)
  }
})

test.run()
