import { regions } from './regions.ts'

export type Plan = {
  id: number
  name: string
  slug: string
  title: string
  type: 'vps' | 'baremetal'
  category: string
  href: string
  specs: object
  pricing: object[]
}

const vps = (id: number, name: string, slug: string): Plan =>
  plan({ id, name, slug, type: 'vps', category: 'Shared resources', cores: 4 })
const baremetal = (id: number, name: string, slug: string): Plan =>
  plan({ id, name, slug, type: 'baremetal', category: 'lightweight', cores: 16 })

/** The plans that a client can order, in every region. */
export const plans: Plan[] = [
  vps(1012, 'Cloud VPS 4', 'B1-4-4gb-80s-shared'),
  vps(1013, 'Cloud VPS 6', 'B1-6-6gb-100s-shared'),
  baremetal(1095, 'AMD Ryzen 9950X', 'amd-ryzen-9950x'),
  baremetal(161, 'E5-1650v4', 'e5-1650v4'),
]

/** Finds a plan by slug or id. */
export function findPlan(slugOrId: unknown): Plan | undefined {
  return plans.find(({ slug, id }) => slug === slugOrId || String(id) === String(slugOrId))
}

/** Returns a plan with the regions that offer it, as lists of plans show it. */
export function withStock(of: Plan): object {
  return { ...of, available_regions: regions.map((region) => ({ ...region, stock_qty: 7, spot_qty: 0 })) }
}

function plan({ cores, ...of }: Omit<Plan, 'title' | 'href' | 'specs' | 'pricing'> & { cores: number }): Plan {
  return {
    ...of,
    title: of.name,
    href: `/plans/${of.slug}`,
    specs: {
      cpus: { count: 1, name: of.name, cores, frequency: 4.3, unit: 'GHz' },
      memory: { count: 1, total: 4 * cores, unit: 'GB', name: `${4 * cores}GB` },
      storage: [{ count: 1, name: 'NVMe 1TB', size: 1, unit: 'TB', type: 'NVME' }],
      nics: { name: '3Gbps' },
      bandwidth: { name: '100TB' },
    },
    pricing: [{ id: 37, unit: 'Hourly', price: 0.05, currency: 'EUR', taxed: false }],
  }
}
