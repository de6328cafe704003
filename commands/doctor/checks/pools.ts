import { isPool } from '../../../announcers/metallb/resources.ts'
import { type KubeObject, keyOf } from '../../../kube/objects.ts'
import { type IpAddress, parseIpAddress } from '../../../lib/ip-address.ts'
import { isInRanges } from '../../../lib/ip-range.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { readMetallbDocument } from '../../../inspect/metallb-document.ts'

/** A pool of MetalLB, from either form of its configuration. */
type Pool = { what: string; addresses: readonly string[]; look: string }

const usesMetallb = ({ vendor: { loadBalancer } }: Context) => loadBalancer.kind.startsWith('metallb')

/** The command that shows an object. */
export const describe = ({ kind, metadata }: KubeObject) =>
  `kubectl describe ${kind.toLowerCase()} -n ${metadata.namespace} ${metadata.name}`

export const overlappingPools = defineCheck({
  id: 'overlapping-pools',
  section: 'Announcing',
  checks: 'No two pools of MetalLB share addresses, in its objects or in its ConfigMap.',
  good: 'no two pools of MetalLB share addresses',
  needs: ['metallb', 'document'],
  applies: usesMetallb,
  // One MetalLB reads one of the two forms.
  judge: ({ metallb, document }) => [...overlaps(objectPools(metallb)), ...overlaps(documentPools(document))],
})

function objectPools(metallb: Values['metallb']): Pool[] {
  return metallb.filter(isPool).map((pool) => ({
    what: `IPAddressPool ${keyOf(pool)}`,
    addresses: pool.spec.addresses,
    look: describe(pool),
  }))
}

function documentPools(document: Values['document']): Pool[] {
  if (!document) return []
  return readMetallbDocument(document).pools.map(({ name, addresses }) => ({
    what: `pool ${JSON.stringify(name)} of ConfigMap ${keyOf(document)}`,
    addresses,
    look: edit(document.metadata),
  }))
}

function overlaps(pools: readonly Pool[]): Finding[] {
  return pools.flatMap((one, n) =>
    pools.slice(n + 1).flatMap((other): Finding[] => {
      const shared = sharedRanges(one, other)
      if (shared === undefined) return []
      return [
        {
          level: 'error',
          what: `${one.what} and ${other.what} share addresses: ${shared}`,
          why: 'MetalLB refuses its whole configuration, and announces nothing new',
          fix: `${other.look}   # remove the range from the one that a person wrote`,
        },
      ]
    }),
  )
}

function sharedRanges(one: Pool, other: Pool): string | undefined {
  for (const first of one.addresses)
    for (const second of other.addresses) {
      // Either range has a known address in the other, if they share any.
      const isShared =
        addressesOf(first).some((address) => isInRanges(address, [second])) ||
        addressesOf(second).some((address) => isInRanges(address, [first]))
      if (isShared) return `${first} and ${second}`
    }
  return undefined
}

/** Both ends of `a-b`, or the address of a network. */
function addressesOf(range: string): IpAddress[] {
  const texts = range.includes('-') ? range.split('-') : [range.split('/')[0] ?? '']
  return texts.flatMap((text) => parseIpAddress(text.trim()) ?? [])
}

export const metallbDocument = defineCheck({
  id: 'metallb-document',
  section: 'Announcing',
  checks: 'MetalLB before 0.13 accepts its ConfigMap: it exists, it is YAML, and no part of it is refused.',
  good: 'MetalLB can read its ConfigMap',
  needs: ['document', 'definitions'],
  applies: ({ vendor: { loadBalancer } }) => ['metallb', 'metallb-configmap'].includes(loadBalancer.kind),
  judge({ document, definitions }, { vendor: { loadBalancer } }) {
    if (document) return refusals(document)
    if (!('name' in loadBalancer)) return []
    // Where MetalLB's objects are known, it reads those.
    if (loadBalancer.kind === 'metallb' && definitions.length > 0) return []
    const { namespace, name } = loadBalancer
    return [
      {
        level: 'error',
        what: `ConfigMap ${namespace}/${name} does not exist`,
        why: 'MetalLB has no configuration, and `serve` changes it only where there is one',
        fix: `kubectl create configmap -n ${namespace} ${name} --from-literal=config='address-pools: []'`,
      },
    ]
  },
})

function refusals(document: NonNullable<Values['document']>): Finding[] {
  return readMetallbDocument(document).problems.map((problem) => ({
    level: 'error',
    what: `ConfigMap ${keyOf(document)}, config: ${problem}`,
    why: 'MetalLB refuses its whole configuration, and announces nothing new',
    fix: edit(document.metadata),
  }))
}

/** The command that changes a ConfigMap. */
export function edit({ namespace, name }: KubeObject['metadata']): string {
  return `kubectl edit configmap -n ${namespace} ${name}`
}
