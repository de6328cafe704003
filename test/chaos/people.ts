import { listAll } from '../../kube/list-all.ts'
import { configMaps, leases, secrets, services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { elasticIPAnnotation } from '../../ledger/record/names.ts'
import { isSource } from '../../ledger/record/source.ts'
import { names as installed } from '../../settings/installed-names.ts'
import { makeLot } from '../builders.ts'
import { type Action, manifest, orderIn, place } from './action.ts'
import type { Arena } from './arena.ts'
import type { Random } from './random.ts'

/** The ElasticIP that an operator provisions. */
const office = 'office'

/** Available addresses: provisioned and warm ones. */
export const ofAdministrators: Action[] = [
  {
    often: 3,
    name: 'an administrator provisions an address',
    run: async ({ client, stage, ordered, office: provisioned }) => {
      // Steps overlap: two that come first share one order.
      provisioned.order ??= orderIn(stage, [])
      provisioned.id = (await provisioned.order)?.id
      const { id } = provisioned
      if (id === undefined) {
        provisioned.order = undefined
        return
      }
      if (!ordered.includes(id)) ordered.push(id)
      await client.create(elasticIPs, makeLot(office, { reservationID: id, reclaimPolicy: 'Retain' }))
    },
  },
  {
    often: 6,
    name: 'create with the address of an ElasticIP',
    run: async ({ client }, random) => {
      const { metadata, ...service } = manifest(place(random), 'LoadBalancer')
      const annotations = { [elasticIPAnnotation]: office }
      await client.create(services, { ...service, metadata: { ...metadata, annotations } })
    },
  },
  {
    often: 1,
    name: 'an administrator deletes an ElasticIP',
    run: async ({ client }, random) => {
      const available = (await listAll(client, elasticIPs)).filter(isSource)
      if (available.length > 0) await client.remove(elasticIPs, { name: random.pick(available).metadata.name })
    },
  },
]

const namespace = 'eip-admission'

/** Mistakes with kubectl by a person who has every right. */
const mistakes: Action[] = [
  {
    often: 2,
    name: 'a person removes an ElasticIP by force',
    run: async ({ client, ...arena }, random) => {
      const name = await anyElasticIP({ client, ...arena }, random)
      if (name === undefined) return
      await client.patch(elasticIPs, { name, patch: { merge: { metadata: { finalizers: [] } } } })
      await client.remove(elasticIPs, { name })
    },
  },
  {
    often: 1,
    name: 'a person empties the status of an ElasticIP',
    run: async (arena, random) => {
      const name = await anyElasticIP(arena, random)
      if (name === undefined) return
      await arena.client.patch(elasticIPs, { name, patch: { merge: { status: null } } }, { subresource: 'status' })
    },
  },
  {
    often: 1,
    name: 'a person removes the claimRef of an ElasticIP',
    run: async ({ client }, random) => {
      const claimed = (await listAll(client, elasticIPs)).filter(({ spec }) => spec.claimRef)
      if (claimed.length === 0) return
      const { name } = random.pick(claimed).metadata
      await client.patch(elasticIPs, { name, patch: { merge: { spec: { claimRef: null } } } })
    },
  },
  {
    often: 2,
    name: 'a person removes the finalizers of a Service, and deletes it',
    run: async ({ client }, random) => {
      const at = place(random)
      await client.patch(services, { ...at, patch: { merge: { metadata: { finalizers: null } } } })
      await client.remove(services, at)
    },
  },
  {
    often: 1,
    name: 'a person empties the status of a Service',
    run: async ({ client }, random) => {
      const patch = { merge: { status: { loadBalancer: null } } }
      await client.patch(services, { ...place(random), patch }, { subresource: 'status' })
    },
  },
  {
    often: 1,
    name: "a person deletes the ledger's ConfigMap",
    run: ({ client }) => client.remove(configMaps, { namespace, name: installed.ledgerConfigMap }),
  },
  {
    often: 1,
    name: 'a person deletes the Secret of our authority',
    run: ({ client }) => client.remove(secrets, { namespace, name: installed.authoritySecret }),
  },
  {
    often: 1,
    name: 'a person deletes the lease of the leader',
    run: ({ client }) => client.remove(leases, { namespace: 'kube-system', name: 'cloud-controller-manager' }),
  },
]

export const ofCarelessPeople = mistakes.map((mistake): Action => ({
  ...mistake,
  run: (arena, random, tally) => {
    tally.troubles.add('careless person')
    return mistake.run(arena, random, tally)
  },
}))

async function anyElasticIP({ client }: Pick<Arena, 'client'>, random: Random): Promise<string | undefined> {
  const all = await listAll(client, elasticIPs)
  return all.length > 0 ? random.pick(all).metadata.name : undefined
}
