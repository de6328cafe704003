// Changes by others in the mirror Service between our look and our write.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { mirrorAnnotations } from '../../../controllers/control-plane/mirror-objects.ts'
import { apiServerService, mirrorService } from '../../../controllers/control-plane/mirror-service.ts'
import { isConflict } from '../../../kube/errors.ts'
import { type Ingress, type Service, type ServicePort, splitKey } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { makeService } from '../../builders.ts'
import { failureOf } from '../../clouds/scripted-server.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { silentLog } from '../../fakes/log.ts'

const { signal } = new AbortController()
const key = 'kube-system/external'
const address = '203.0.113.77'
const port = { name: 'https', protocol: 'TCP', port: 6443, targetPort: 6443 } as const

/** The mirror Service, as it should be in all other respects. */
const makeMirror = (facts: { ports?: ServicePort[]; shown?: Ingress[] }): Service =>
  makeService({
    ...splitKey(key),
    annotations: mirrorAnnotations,
    loadBalancerIP: address,
    ports: facts.ports ?? [port],
    status: { loadBalancer: { ingress: facts.shown ?? [{ ip: address }] } },
  })

/** The mirror Service after two reconciles, where somebody changes it before the first write of the first one. */
async function mirrorAfter(before: Service, changed: Service): Promise<Service | undefined> {
  const api = apiServer()
  api.put(services, makeService({ ...splitKey(apiServerService), type: 'ClusterIP', ports: [{ ...port, port: 443 }] }))
  api.put(services, before)
  const hooks: Hooks = {
    before({ verb }) {
      if (verb !== 'patch') return
      hooks.before = undefined
      api.put(services, changed)
    },
  }
  const mirror = mirrorService({
    client: interposed(api.client, hooks),
    address: () => address,
    port: undefined,
    isFailing: () => false,
    event: () => {},
    now: () => 0,
    log: silentLog,
  })
  assert.ok(isConflict(await failureOf(mirror.reconcile(key, signal))))
  await mirror.reconcile(key, signal)
  return api.client.get(services, splitKey(key))
}

test('a node port that a person changes while we change the port stays', async () => {
  const was = { ...port, port: 443, nodePort: 30_443 }
  const changed = makeMirror({ ports: [{ ...was, nodePort: 31_443 }] })
  const mirror = await mirrorAfter(makeMirror({ ports: [was] }), changed)
  assert.equal(mirror?.spec.ports, [{ ...port, nodePort: 31_443 }])
})

test('an address that another program shows with its mode while we write it stays as it is', async () => {
  const shown: Ingress[] = [{ ip: address, ipMode: 'VIP' }]
  const mirror = await mirrorAfter(makeMirror({ shown: [] }), makeMirror({ shown }))
  assert.equal(mirror?.status?.loadBalancer?.ingress, shown)
})

test.run()
