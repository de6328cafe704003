import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import type { EndpointSlice, Service } from '../../kube/objects.ts'
import { endpointSlices, endpoints, services } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { type GuardedMirror, guardMirror, guardianUser } from '../whole/guarded-mirror.ts'
import { dialect, openStage } from './dialect.ts'

const namespace = 'kube-system'
const name = dialect.controlPlaneService
const at = { namespace, name }
const key = `${namespace}/${name}`
const apiServers = { namespace: 'default', name: 'kubernetes' }

/** The control-plane address of these tests, and where the API servers listen. */
export const address = '203.0.113.77'
export const both = ['10.0.0.1', '10.0.0.2']

/** The addresses in slices. */
export const placesOf = (slices: EndpointSlice[]) =>
  slices.flatMap((slice) => (slice.endpoints ?? []).flatMap((one) => one.addresses)).toSorted()

/** Less than the minute after which the product looks in any case, even with the multiple for a busy machine. */
const soonMs = 15_000

/** Waits for the effect of an event. */
export const soon = (what: string, look: () => Promise<boolean>) =>
  eventually(what, async () => (await look()) || undefined, soonMs)

/** Opens a stage of the product on which the mirror Service can be kept and observed. */
export async function openMirrorStage() {
  const stage = await openStage({
    controllers: ['endpointslice-mirroring-controller'],
    users: { [guardianUser]: ['system:authenticated'] },
  })
  const { client } = stage
  const [{ targetPort = 0 } = {}] = (await client.get(services, apiServers))?.spec.ports ?? []
  const port = Number(targetPort)
  let mirror: GuardedMirror | undefined

  const get = () => client.get(services, at)
  const slices = () =>
    listAll(client, endpointSlices, { namespace, labelSelector: `kubernetes.io/service-name=${name}` })
  const patch = (change: object, subresource?: 'status') =>
    client.patch(services, { ...at, patch: { merge: change } }, subresource ? { subresource } : {})
  const shownIs = async (wanted: string) => {
    const service = await get()
    return service?.status?.loadBalancer?.ingress?.map(({ ip }) => ip).join() === wanted
  }
  /** Publishes where the API servers listen, as they do themselves. */
  const serveAt = async (...addresses: string[]) => {
    const slice: EndpointSlice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...apiServers, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: addresses.map((one) => ({ addresses: [one], conditions: { ready: true } })),
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    }
    await client.apply(endpointSlices, slice, { fieldManager: 'api-server' })
  }
  /** Stops the mirror's controller, and checks that it had every right that it needed, and fought no other writer. */
  const stopMirror = async () => {
    await mirror?.stop()
    const complaints = mirror?.log.filter((line) => /forbidden|cannot|does not settle/i.test(line)) ?? []
    mirror = undefined
    assert.equal(complaints, [])
  }
  const startMirror = async (outside?: number) => {
    await stopMirror()
    mirror = guardMirror(stage.controlPlane, { key, ...(outside !== undefined && { port: outside }) })
    return mirror
  }

  return {
    stage,
    client,
    namespace,
    name,
    at,
    apiServers,
    port,
    get,
    slices,
    patch,
    shownIs,
    serveAt,
    startMirror,
    stopMirror,
    /** Keeps the mirror, and waits until it is as it should be. */
    settled: async (outside?: number): Promise<Service & Pick<GuardedMirror, 'setAddress' | 'setFailing'>> => {
      await stopMirror()
      await serveAt(...both)
      const { setAddress, setFailing } = await startMirror(outside)
      setAddress(address)
      await eventually('the status shows the address', async () => (await shownIs(address)) || undefined)
      await eventually(
        'the endpoints are those of the API servers',
        async () => placesOf(await slices()).join() === both.join() || undefined,
      )
      return { ...(await get())!, setAddress, setFailing }
    },
    /** Stops keeping the mirror, and removes it. */
    removed: async () => {
      await stopMirror()
      if (await get()) await patch({ metadata: { finalizers: [] } })
      await client.remove(services, at)
      await client.remove(endpoints, at)
      for (const slice of await slices()) await client.remove(endpointSlices, { ...at, name: slice.metadata.name })
      await eventually('nothing is left', async () => (!(await get()) && (await slices()).length === 0) || undefined)
    },
  }
}
