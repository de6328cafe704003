// Deeds of others: another program in the project, a person at the console, a kubelet, and a tenant.
import type { Service } from '../../kube/objects.ts'
import { nodes, services } from '../../kube/resource.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { dialectOf, reservationsIn } from '../whole/dialects.ts'
import { type Action, clusterTagOfOthers, manifest, names, orderIn, forgerNamespace } from './action.ts'
import type { Arena } from './arena.ts'
import type { Random } from './random.ts'

/**
 * The Service that no step touches: if the project listed nothing of ours, the ledger would stop until a person
 * decides.
 */
export const anchor = { namespace: 'default', name: 'anchor' }
/** The Service of a tenant who changes its type repeatedly, and wants to keep its address. */
const flipping = { namespace: forgerNamespace, name: 'flip' }
const forgedNode = 'node-forged'

/** The addresses of our Services, as their reservations have them. */
function ours({ stage, office }: Arena) {
  return reservationsIn(stage.dialect, stage.cloud.control).filter(
    ({ id, tags }) => id !== office.id && tags.some((tag) => tag.startsWith('cluster=') && tag !== clusterTagOfOthers),
  )
}

async function orderElsewhere({ stage, strangers }: Arena): Promise<void> {
  const { control } = stage.cloud
  const made = await orderIn(stage, ['program=other'])
  if (!made) return
  strangers.machine ??= String(control.devices.add({ hostname: 'another-program' })['id'])
  control.reservations.assign(made.id, strangers.machine)
  strangers.held.set(made.id, made.address)
}

export const ofStrangers: Action[] = [
  { often: 3, name: 'another program orders an address for its server', run: (arena) => orderElsewhere(arena) },
  {
    often: 2,
    name: 'another program gives an address back',
    run: async ({ stage, strangers }, random) => {
      const ids = [...strangers.held.keys()]
      if (ids.length === 0) return
      const id = random.pick(ids)
      strangers.held.delete(id)
      stage.cloud.control.reservations.vanish(id)
    },
  },
  {
    often: 2,
    name: 'a person deletes an address in the console',
    run: async (arena, random, tally) => {
      const { client, stage } = arena
      const kept = (await client.get(services, anchor))?.spec.loadBalancerIP
      const all = ours(arena).filter(({ address }) => address !== null && address !== kept)
      if (kept === undefined || all.length === 0) return
      tally.troubles.add('deleted address')
      stage.cloud.control.reservations.vanish(random.pick(all).id)
      // The cloud may reuse its id for the next order.
      if (random.happens(0.5)) await orderElsewhere(arena)
    },
  },
  {
    often: 2,
    name: 'a kubelet forges its own Node',
    run: async (arena, random) => {
      const { client } = arena
      const all = ours(arena).flatMap(({ address }) => address ?? [])
      const podCIDR = random.pick(['0.0.0.0/0', '::/0', ...all.map((address) => rangeOf(address))])
      await client.remove(nodes, { name: forgedNode })
      const spec = { podCIDR, podCIDRs: [podCIDR] }
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: forgedNode }, spec })
      const addresses = all.map((address) => ({ type: 'ExternalIP', address }))
      const patch = { merge: { status: { addresses } } }
      await client.patch(nodes, { name: forgedNode, patch }, { subresource: 'status' })
    },
  },
  {
    often: 3,
    name: 'a tenant calls the address of another his',
    run: async (arena, random) => {
      const address = anyOf(
        ours(arena).flatMap(({ address: one }) => one ?? []),
        random,
      )
      if (address === undefined) return
      const at = { namespace: forgerNamespace, name: random.pick(names) }
      const { metadata, spec, ...service } = manifest(at, 'LoadBalancer')
      const forged: Service = {
        ...service,
        metadata: { ...metadata, annotations: { [addressAnnotation]: address } },
        spec: { ...spec, ...(random.happens(0.5) && { loadBalancerIP: address }) },
      }
      await arena.client.create(services, forged)
    },
  },
  {
    often: 2,
    name: 'a tenant deletes one of his Services',
    run: ({ client }, random) => client.remove(services, { namespace: forgerNamespace, name: random.pick(names) }),
  },
  {
    often: 4,
    name: 'a tenant flips the type of a Service whose address is retained',
    run: async ({ client }) => {
      const stored = await client.get(services, flipping)
      const type = stored?.spec.type === 'LoadBalancer' ? 'ClusterIP' : 'LoadBalancer'
      if (stored) return void (await client.patch(services, { ...flipping, patch: { merge: { spec: { type } } } }))
      const { metadata, ...service } = manifest(flipping, 'LoadBalancer')
      const annotations = { 'eip-admission.dev/reclaim-policy': 'Retain' }
      await client.create(services, { ...service, metadata: { ...metadata, annotations } })
    },
  },
  {
    often: 4,
    name: 'a tenant edits a Service, refused or not, ten times',
    run: async ({ client }, random) => {
      const at = { namespace: forgerNamespace, name: random.pick(names) }
      for (let n = 0; n < 10; n += 1)
        await client.patch(services, { ...at, patch: { merge: { metadata: { labels: { n: String(n) } } } } })
    },
  },
]

/** Actions for clouds that route each address to one node. */
export const ofStrangeNodes: Action[] = [
  {
    often: 1,
    name: 'a renamed node leaves its old object behind',
    run: async ({ client, nodes: { names: own } }, random) => {
      const node = await client.get(nodes, { name: random.pick(own) })
      const { providerID } = node?.spec ?? {}
      if (!node || providerID === undefined) return
      const metadata = { name: `${node.metadata.name}-renamed` }
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata, spec: { providerID } })
    },
  },
]

/** A private network as large as a careless range, around an address. */
function rangeOf(address: string): string {
  return address.includes(':') ? `${address.split(':').slice(0, 2).join(':')}::/32` : `${address.split('.')[0]}.0.0.0/8`
}

function anyOf<T>(from: readonly T[], random: Random): T | undefined {
  return from.length > 0 ? random.pick(from) : undefined
}

/** Makes the tenant stop: a Service that is no longer a LoadBalancer has no address to check. */
export async function endFlips({ client }: Arena): Promise<void> {
  if (!(await client.get(services, flipping))) return
  await client.patch(services, { ...flipping, patch: { merge: { spec: { type: 'LoadBalancer' } } } })
}

/** The addresses that strangers lost, and our healthy nodes that no longer exist. */
export async function lostByStrangers({ client, stage, strangers, nodes: { names: own } }: Arena): Promise<string[]> {
  const facts = dialectOf(stage.dialect)
  const { control } = stage.cloud
  const byId = new Map(reservationsIn(stage.dialect, control).map((one) => [one.id, one]))
  const wrong: string[] = []
  for (const [id, address] of strangers.held) {
    const holders = facts.holdersOf(control, address)
    if (byId.get(id)?.address !== address) wrong.push(`address ${address} (${id}) of another program no longer exists`)
    else if (holders.join() !== strangers.machine)
      wrong.push(`address ${address} of another program was taken from its server (${holders.join() || 'no machine'})`)
  }
  for (const name of own) if (!(await client.get(nodes, { name }))) wrong.push(`the healthy node ${name} is deleted`)
  return wrong
}
