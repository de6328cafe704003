export type Region = {
  id: number
  name: string
  slug: string
  region_iso_2: string
  href: string
  bgp: { hosts: string[]; asn: number }
  location: string
}

/** The routers and the ASN of region 1 are public facts; other regions have values from documentation ranges. */
const rows: [slug: string, name: string, country: string, location: string][] = [
  ['LT-Siauliai', 'Lithuania', 'LT', 'Lithuania, Šiauliai'],
  ['NL-Amsterdam', 'Amsterdam, NL', 'NL', 'Netherlands, Amsterdam'],
  ['US-Chicago', 'Chicago, US', 'US', 'United States, Chicago'],
  ['SG-Singapore', 'Singapore, SG', 'SG', 'Singapore, Singapore'],
  ['SE-Stockholm', 'Stockholm, SE', 'SE', 'Sweden, Stockholm'],
  ['DE-Frankfurt', 'Frankfurt, DE', 'DE', 'Germany, Frankfurt'],
]

export const regions: Region[] = rows.map(([slug, name, country, location], n) => {
  const id = n + 1
  const bgp =
    id === 1
      ? { hosts: ['46.166.166.122', '46.166.166.123'], asn: 16125 }
      : { hosts: [`192.0.2.${id}1`, `192.0.2.${id}2`], asn: 64990 + id }
  return { id, name, slug, region_iso_2: country, href: `/regions/${id}`, bgp, location }
})

/** Finds a region by its exact slug; the vendor removed the names from before 2025. */
export function findRegion(slug: unknown): Region | undefined {
  return regions.find((region) => region.slug === slug)
}
