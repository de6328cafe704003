// How the predecessors keep MetalLB's custom resources: as v1beta1, object by object, with merge patches.
import type { KubeClient } from '../../../kube/client.ts'
import type { KubeObject } from '../../../kube/objects.ts'
import { defineResource } from '../../../kube/resource.ts'
import { listAll } from '../../../kube/list-all.ts'
import type { LabelSelector } from '../../../lib/label-selector.ts'
import {
  type BGPAdvertisement,
  type IPAddressPool,
  bgpAdvertisements,
  ipAddressPools,
} from '../../../announcers/metallb/resources.ts'
import {
  type Counted,
  type PeerObject,
  type Predecessor,
  advertisementOf,
  countOf,
  poolOf,
} from '../../announcers/predecessors.ts'

const namespace = 'metallb-system'
const labelSelector = 'cloud-provider=equinix-metal'

const oldPeers = defineResource<PeerObject>({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'BGPPeer',
  plural: 'bgppeers',
  namespaced: true,
})

type Spec = PeerObject['spec']

/** The fields that decide whether a stored peer is written again. The source address and the multihop are not compared. */
const compared = ['myASN', 'peerASN', 'peerAddress', 'peerPort', 'holdTime', 'password', 'routerID'] as const
const typed = [...compared, 'sourceAddress', 'keepaliveTime', 'bfdProfile', 'ebgpMultiHop', 'nodeSelectors'] as const

export type PredecessorMetallb = ReturnType<typeof predecessorMetallb>

/** MetalLB's objects as a predecessor keeps them. */
export function predecessorMetallb(client: KubeClient, predecessor: Predecessor) {
  const isCherry = predecessor.startsWith('Cherry')
  const peers = () => listAll(client, oldPeers, { namespace, labelSelector })
  const pools = () => listAll(client, ipAddressPools, { namespace, labelSelector })
  const advertisements = () => listAll(client, bgpAdvertisements, { namespace, labelSelector })

  const patch = async (object: PeerObject, spec: object) => {
    if (Object.keys(spec).length === 0) return
    await client.patch(oldPeers, { ...at(object), patch: { merge: { spec } } })
  }

  /** Stops counting a Service; a peer that counts no other goes. */
  const uncount = async (peer: PeerObject, service: Counted) => {
    const { kept, isCounted, others } = without(peer.spec, service)
    if (!isCounted) return
    if (others > 0) await patch(peer, { nodeSelectors: kept })
    else await client.remove(oldPeers, at(peer))
  }

  const without = ({ nodeSelectors }: Spec, service: Counted) => {
    const own = JSON.stringify(sorted(countOf(predecessor, service)))
    const kept = nodeSelectors.filter((one) => JSON.stringify(sorted(one)) !== own)
    const others = kept.filter((one) => isCount(one)).length
    return { kept, isCounted: kept.length < nodeSelectors.length, others }
  }

  return {
    /** Adds the pool of a Service, and names it in the advertisement, unless there is one by its name. */
    async addPool(service: Counted, address: string): Promise<void> {
      const wanted = poolOf(service, address) as IPAddressPool
      for (const pool of await pools()) {
        const isNamesake = pool.metadata.name === wanted.metadata.name
        const label = pool.metadata.labels?.[`service-${service.name}`]
        if (isNamesake && (isCherry ? label !== undefined : label === `namespace-${service.namespace}`)) return
        const hasAddress = pool.spec.addresses.includes(`${address}/32`)
        if (hasAddress && !isCherry)
          throw new Error(`requested ip ${address}/32 already in use by pool ${pool.metadata.name}`)
        if (!isNamesake && !hasAddress) continue
        const labels = { [`service-${service.name}`]: `namespace-${service.namespace}` }
        const addresses = [...new Set([...pool.spec.addresses, ...wanted.spec.addresses])].toSorted()
        const merge = { ...(isNamesake && { metadata: { labels } }), ...(hasAddress && { spec: { addresses } }) }
        return void (await client.patch(ipAddressPools, { ...at(pool), patch: { merge } }))
      }
      await client.create(ipAddressPools, wanted)
      const [known, ...others] = await advertisements()
      if (!known)
        return void (await client.create(
          bgpAdvertisements,
          advertisementOf([wanted.metadata.name]) as BGPAdvertisement,
        ))
      for (const one of [known, ...others].filter(isDefault)) {
        const named = [...(one.spec?.ipAddressPools ?? []), wanted.metadata.name]
        await client.patch(bgpAdvertisements, { ...at(one), patch: { merge: { spec: { ipAddressPools: named } } } })
      }
    },

    /** Removes the pool of a Service; the advertisement goes with the last pool that it names. */
    async removePool({ namespace: of, name }: Counted): Promise<void> {
      const pool = `${of}.${name}`
      if (!(await pools()).some(({ metadata }) => metadata.name === pool) && !isCherry) return
      await client.remove(ipAddressPools, { namespace, name: pool })
      for (const one of (await advertisements()).filter(isDefault)) {
        const named = one.spec?.ipAddressPools ?? []
        if (!named.includes(pool)) continue
        const left = named.filter((other) => other !== pool)
        if (left.length === 0) await client.remove(bgpAdvertisements, at(one))
        else await client.patch(bgpAdvertisements, { ...at(one), patch: { merge: { spec: { ipAddressPools: left } } } })
      }
    },

    /** Writes the peers of all nodes, for a Service that each of them counts. */
    async updatePeers(wanted: PeerObject[], service: Counted): Promise<void> {
      const known = await peers()
      // The first peers count no Service: the real ones write them so.
      if (known.length === 0) {
        for (const peer of wanted) await client.create(oldPeers, peer)
        return
      }
      for (const peer of known) {
        const next = wanted.find(({ metadata }) => metadata.name === peer.metadata.name)
        if (!next) await uncount(peer, service)
        else if (!isSame(peer.spec, next.spec)) await patch(peer, changesTo(peer.spec, next.spec))
        else if (!without(peer.spec, service).isCounted)
          await patch(peer, { nodeSelectors: withCount(peer.spec, service) })
      }
      const names = new Set(known.map(({ metadata }) => metadata.name))
      for (const peer of wanted.filter(({ metadata }) => !names.has(metadata.name))) {
        const spec = { ...peer.spec, nodeSelectors: withCount(peer.spec, service) }
        await client.create(oldPeers, { ...peer, spec })
      }
    },

    /** Stops counting a Service on every peer. */
    async removeCounts(service: Counted): Promise<void> {
      for (const peer of await peers()) await uncount(peer, service)
    },
  }

  function withCount({ nodeSelectors }: Spec, service: Counted): LabelSelector[] {
    const counts = [...nodeSelectors.filter((one) => isCount(one)), countOf(predecessor, service)]
    const inOrder = counts.toSorted((one, other) => (nameIn(one) < nameIn(other) ? -1 : 1))
    return [...nodeSelectors.filter((one) => !isCount(one)), ...inOrder]
  }
}

function isDefault({ metadata }: KubeObject): boolean {
  return metadata.name === 'equinix-metal-bgp-adv'
}

function isCount({ matchLabels = {} }: LabelSelector): boolean {
  return Object.keys(matchLabels).some((key) => key.startsWith('nomatch.'))
}

/** Namespace and name, in the order of the real one's sort. */
function nameIn({ matchLabels = {} }: LabelSelector): string {
  const valueOf = (end: string) => Object.entries(matchLabels).find(([key]) => key.endsWith(end))?.[1] ?? ''
  return `${valueOf('/service-namespace')}/${valueOf('/service-name')}`
}

function sorted({ matchLabels = {} }: LabelSelector): [string, string][] {
  return Object.entries(matchLabels).toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/** A field as Go's type has it: absent is empty, and a duration is never absent. */
function fieldOf(spec: Spec, field: (typeof typed)[number]): unknown {
  if (field === 'holdTime' || field === 'keepaliveTime') return spec[field] ?? '0s'
  return spec[field] ?? null
}

function isSame(stored: Spec, wanted: Spec): boolean {
  return compared.every((field) => fieldOf(stored, field) === fieldOf(wanted, field))
}

/** The merge patch that makes the whole spec what is wanted: the counts of other Services go with it. */
function changesTo(stored: Spec, wanted: Spec): Record<string, unknown> {
  const changed = typed.filter(
    (field) => JSON.stringify(fieldOf(stored, field)) !== JSON.stringify(fieldOf(wanted, field)),
  )
  return Object.fromEntries(changed.map((field) => [field, fieldOf(wanted, field)]))
}

function at({ metadata: { namespace: of, name } }: KubeObject) {
  return { namespace: of, name }
}
