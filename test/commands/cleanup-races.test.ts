// Cleanup while others write, and where our process still runs.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cleanUp } from '../../commands/cleanup.ts'
import type { Lease, Service } from '../../kube/objects.ts'
import { leases, services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { makeRecord, makeService } from '../builders.ts'
import { type ApiServer, apiServer } from '../fakes/api-server.ts'
import { type Hooks, interposed } from '../fakes/interposed.ts'

const ours = 'eip-admission.dev/address-cleanup'
const theirs = 'example.com/theirs'

/** A cluster with a Service and its record, which our finalizers hold. */
function heldCluster(): ApiServer {
  const api = apiServer()
  api.put(services, makeService({ finalizers: [ours] }))
  api.put(elasticIPs, makeRecord({ phase: 'Bound' }))
  return api
}

/** Cleans up, and returns all that a person reads. `meanwhile` happens before the last look. */
async function cleaned(api: ApiServer, { hooks = {}, meanwhile }: { hooks?: Hooks; meanwhile?: () => void } = {}) {
  let output = ''
  const deps = {
    env: {},
    version: 'test',
    print: (text: string) => void (output += text),
    signal: new AbortController().signal,
    endAtOnce() {},
    clock: { sleep: () => Promise.resolve(meanwhile?.()) },
  }
  try {
    await cleanUp(interposed(api.client, hooks), { yes: true, flags: {} }, deps)
    return { output, error: undefined }
  } catch (error) {
    return { output, error: (error as Error).message }
  }
}

const finalizersIn = (api: ApiServer) =>
  [...api.stored(services), ...api.stored(elasticIPs)].map(({ metadata }) => metadata.finalizers)

/** Changes a stored Service, as another program does. */
function change(api: ApiServer, finalizers: string[]): void {
  const [stored] = api.stored(services) as [Service]
  api.put(services, { ...stored, metadata: { ...stored.metadata, finalizers } })
}

test('cleanup ends well where nothing comes back', async () => {
  const api = heldCluster()
  const { output, error } = await cleaned(api)
  assert.is(error, undefined)
  assert.match(output, 'eip-admission no longer blocks anything in the cluster.')
  assert.equal(finalizersIn(api), [[], []])
})

test('cleanup fails where a finalizer comes back, and says what still runs', async () => {
  const api = heldCluster()
  const { output, error } = await cleaned(api, { meanwhile: () => change(api, [ours]) })
  assert.is(
    error,
    'an `eip-admission serve` is still running, and is adding finalizers again:\n  Service default/web has a finalizer\n' +
      'Stop every `eip-admission serve`, then run `eip-admission cleanup --yes` again.',
  )
  assert.match(output, `removed the finalizer ${ours} from Service default/web`)
  assert.not.match(output, 'no longer blocks anything')
})

const lease = (holderIdentity: string, renewTime: string, name = 'cloud-controller-manager'): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-system', name },
  spec: { holderIdentity, renewTime },
})
const [before, after] = ['2026-02-01T12:00:00.000000Z', '2026-02-01T12:00:02.000000Z']
const leader = 'host_0123456789ab'
const renewals = [
  { name: 'a leader renews its lease', from: lease(leader, before), to: lease(leader, after), runs: true },
  { name: 'the leader was killed', from: lease(leader, before), to: undefined, runs: false },
  {
    name: 'a predecessor leads',
    from: lease('host_0b9e6c9e-54e1-4f8c-9a53-0123456789ab', before),
    to: lease('host_0b9e6c9e-54e1-4f8c-9a53-0123456789ab', after),
    runs: false,
  },
  {
    name: 'a guardian leads',
    from: lease(leader, before, 'eip-admission-control-plane'),
    to: lease(leader, after, 'eip-admission-control-plane'),
    runs: false,
  },
]
for (const { name, from, to, runs } of renewals)
  test(`cleanup ${runs ? 'fails' : 'ends well'} where ${name}`, async () => {
    const api = heldCluster()
    api.put(leases, from)
    const { error } = await cleaned(api, { meanwhile: () => void (to && api.put(leases, to)) })
    if (runs) assert.match(error ?? '', '\n  lease kube-system/cloud-controller-manager was renewed\n')
    else assert.is(error, undefined)
  })

/** Hooks that run something before the first patch, or before each. */
function beforePatch(act: () => void, { each = false } = {}): Hooks {
  let isFirst = true
  return {
    before({ verb }) {
      if (verb === 'patch' && (each || isFirst)) act()
      if (verb === 'patch') isFirst = false
    },
  }
}

test('an object that changed meanwhile loses only our finalizer, and the others follow', async () => {
  const api = heldCluster()
  const { output, error } = await cleaned(api, { hooks: beforePatch(() => change(api, [ours, theirs])) })
  assert.is(error, undefined)
  assert.equal(finalizersIn(api), [[theirs], []])
  assert.match(output, `removed the finalizer ${ours} from Service default/web`)
})

test('an object that went meanwhile needs nothing, and the others follow', async () => {
  const api = heldCluster()
  const hooks = beforePatch(() => api.drop(services, { namespace: 'default', name: 'web' }))
  const { error } = await cleaned(api, { hooks })
  assert.is(error, undefined)
  assert.equal(finalizersIn(api), [[]])
})

test('an object that changes all the time is left, with an error in the end', async () => {
  const api = heldCluster()
  let changes = 0
  const hooks = beforePatch(() => change(api, [ours, `${theirs}-${(changes += 1)}`]), { each: true })
  const { output, error } = await cleaned(api, { hooks })
  assert.match(output, `did not remove the finalizer ${ours} from Service default/web: others change it all the time`)
  assert.match(output, 'removed the finalizer eip-admission.dev/reservation-cleanup from ElasticIP default.web')
  assert.match(error ?? '', 'Service default/web has a finalizer')
})

test.run()
