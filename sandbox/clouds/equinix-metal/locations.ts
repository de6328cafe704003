import { createHash } from 'node:crypto'
import metrosFile from './metros.json' with { type: 'json' }

export type Metro = { id: string; name: string; code: string; country: string }
export type Facility = { id: string; name: string; code: string; metro: Metro; features: string[]; ip_ranges: string[] }
export type Plan = { id: string; slug: string; name: string; line: string; class: string; categories: string[] }

/** The metros whose ids are public. Every project sees every metro. */
export const metros: Metro[] = metrosFile.metros

/** A known data centre of each metro; for other metros we invent one with the number 1. */
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

/** A facility for each metro. The vendor deprecated them in May 2023, but every device still shows one. */
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

/** The plans that a client can order. */
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

/** Finds a metro by code, in upper or lower case, or by id. */
export function findMetro(codeOrId: string): Metro | undefined {
  return metros.find(({ code, id }) => code === codeOrId.toLowerCase() || id === codeOrId)
}

/** Finds a facility by code or id. */
export function findFacility(codeOrId: string): Facility | undefined {
  return facilities.find(({ code, id }) => code === codeOrId.toLowerCase() || id === codeOrId)
}

/** Derives a UUID from a name, so that ids are the same after every start. */
export function stableId(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
