// Which ElasticIP a person names. `move` and `release` read it in the same way.
//
//   what is typed  | names
//   ---------------+------------------------------------------------------------------------
//   an address     | the ElasticIP that has it
//   NAMESPACE/NAME | the record of that Service
//   NAME           | the ElasticIP of that name, or the record of that Service in the namespace
//                  | of the command; where there are both, neither
//
// Of an ElasticIP and a record that has its address from it, the ElasticIP is meant: the record goes with its Service.
import { type ElasticIP, addressKeyOf } from '../ledger/record/elastic-ip.ts'
import { isClaimedBy } from '../ledger/record/source.ts'
import { canonicalIpAddress } from '../lib/ip-address.ts'
import { Refusal } from './io.ts'

type Among = { records: readonly ElasticIP[]; namespace: string }

/** The record that a person names; a Refusal says why there is none, or how to name one of several. */
export function findRecord(text: string, { records, namespace }: Among): ElasticIP {
  const address = canonicalIpAddress(text)
  const names = text.includes('/') ? [text.replace('/', '.')] : [text, `${namespace}.${text}`]
  const named = records.filter(({ metadata, status }) =>
    address === undefined ? names.includes(metadata.name) : canonicalIpAddress(status?.address ?? '') === address,
  )
  const found = named.filter((record) => !named.some((source) => isClaimedBy(source, record)))
  const [first, ...others] = found
  if (!first) throw new Refusal(`${absence(text, { address, namespace })}; list all with \`kubectl eip list -A\``)
  if (others.length === 0) return first
  const ways = found.map((record) => wayToName(record, address)).join(' and ')
  const problem = address === undefined ? `${text} names several ElasticIPs` : `several ElasticIPs have ${text}`
  throw new Refusal(`${problem}: ${ways}. Name one of them`)
}

function absence(text: string, { address, namespace }: { address: string | undefined; namespace: string }): string {
  if (address !== undefined) return `no ElasticIP has ${text}`
  if (text.includes('/')) return `there is no ElasticIP of Service ${text}`
  return `there is no ElasticIP ${text}, and none of Service ${namespace}/${text}`
}

/** How to name a record where a text names another one too. */
function wayToName(record: ElasticIP, typed: string | undefined): string {
  const { name } = record.metadata
  const key = addressKeyOf(record)
  if (key !== undefined) return `${name} (write ${key})`
  if (typed !== undefined) return name
  const { address } = record.status ?? {}
  return address === undefined
    ? `${name} (it has no address yet: wait for that)`
    : `${name} (write its address, ${address})`
}

/** What a person types to name a record, whatever the namespace of the command. */
export function typedName(record: ElasticIP, records: readonly ElasticIP[]): string {
  const key = addressKeyOf(record)
  if (key !== undefined) return key
  const { name } = record.metadata
  const isOfService = records.some(({ metadata }) => metadata.name.endsWith(`.${name}`))
  return isOfService ? (record.status?.address ?? name) : name
}
