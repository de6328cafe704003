import { createHash } from 'node:crypto'
import metrosFile from './metros.json' with { type: 'json' }

export type Metro = { id: string; name: string; code: string; country: string }
export type Facility = { id: string; name: string; code: string; metro: Metro; features: string[]; ip_ranges: string[] }
export type Plan = { id: string; slug: string; name: string; line: string; class: string; categories: string[] }

/** The metros whose ids are on record. A metro is visible to every project. */
export const metros: Metro[] = metrosFile.metros

/** A data centre that is known to have been in a metro; elsewhere we number the first one 1. */
const buildings: Record<string, string> = {
  am: 'am6',
  at: 'at4',
  ch: 'ch3',
  da: 'da11',
  dc: 'dc13',
  fr: 'fr8',
  ny: 'ny5',
  sg: 'sg5',
  sv: 'sv15',
}

/** One facility a metro: deprecated in May 2023, but still in every device. */
export const facilities: Facility[] = metros.map((metro, n) => {
  const code = buildings[metro.code] ?? `${metro.code}1`
  return {
    id: stableId(`facility ${code}`),
    name: `${metro.name} ${code.slice(2)}`,
    code,
    metro,
    features: ['baremetal', 'ibx', 'layer_2', 'global_ipv4', 'backend_transfer'],
    ip_ranges: [`2001:db8:${(0x4600 + n).toString(16)}::/48`],
  }
})

/** What can be ordered. */
export const plans: Plan[] = ['c3.small.x86', 'c3.medium.x86', 'm3.small.x86', 'm3.large.x86', 's3.xlarge.x86'].map(
  (slug) => ({
    id: stableId(`plan ${slug}`),
    slug,
    name: slug,
    line: 'baremetal',
    class: slug,
    categories: ['compute', 'current_gen'],
  }),
)

/** A metro by code, in any case, or by id. */
export function findMetro(codeOrId: string): Metro | undefined {
  return metros.find(({ code, id }) => code === codeOrId.toLowerCase() || id === codeOrId)
}

/** A facility by code or id. */
export function findFacility(codeOrId: string): Facility | undefined {
  return facilities.find(({ code, id }) => code === codeOrId.toLowerCase() || id === codeOrId)
}

/** A UUID that a name always has, so that ids stay the same from one start to the next. */
export function stableId(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
