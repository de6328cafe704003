import { images } from './images.ts'
import { type Region, regions } from './regions.ts'

type PlanType = 'vps' | 'baremetal'

export type Plan = {
  id: number
  name: string
  slug: string
  title: string
  type: PlanType
  category: string
  href: string
  specs: object
  pricing: object[]
  softwares: object[]
}

type Size = { cores: number; memoryGb: number; disk: { name: string; size: number; unit: 'GB' | 'TB'; type: string } }
type Known = Pick<Plan, 'id' | 'name' | 'slug'>
type Row = Known & { type: PlanType; size: Size; hourly: number }

const ssd = (size: number): Size['disk'] => ({ name: `SSD ${size}GB`, size, unit: 'GB', type: 'SSD' })
const nvme: Size['disk'] = { name: 'NVMe 1TB', size: 1, unit: 'TB', type: 'NVME' }

function vps(of: Known, cores: number, diskGb: number): Plan {
  return plan({ ...of, type: 'vps', size: { cores, memoryGb: cores, disk: ssd(diskGb) }, hourly: 0.0182 * cores })
}

function baremetal(of: Known, cores: number): Plan {
  return plan({ ...of, type: 'baremetal', size: { cores, memoryGb: 4 * cores, disk: nvme }, hourly: 0.536 })
}

/** The plans that a client can order, in every region. The smallest one has the vendor's id, which clients know. */
export const plans: Plan[] = [
  vps({ id: 625, name: 'Cloud VPS 1', slug: 'B1-1-1gb-20s-shared' }, 1, 20),
  vps({ id: 1011, name: 'Cloud VPS 2', slug: 'B1-2-2gb-40s-shared' }, 2, 40),
  vps({ id: 1012, name: 'Cloud VPS 4', slug: 'B1-4-4gb-80s-shared' }, 4, 80),
  vps({ id: 1013, name: 'Cloud VPS 6', slug: 'B1-6-6gb-100s-shared' }, 6, 100),
  baremetal({ id: 1095, name: 'AMD Ryzen 9950X', slug: 'amd-ryzen-9950x' }, 16),
  baremetal({ id: 161, name: 'E5-1650v4', slug: 'e5-1650v4' }, 6),
]

/** Finds a plan by slug or id. */
export function findPlan(slugOrId: unknown): Plan | undefined {
  return plans.find(({ slug, id }) => slug === slugOrId || String(id) === String(slugOrId))
}

/** Returns a plan with the regions that offer it, as lists of plans show it. */
export function withStock(of: Plan): object {
  return { ...of, available_regions: regions.map(stockIn) }
}

function stockIn(region: Region): object {
  return { ...region, stock_qty: 7, spot_qty: 0 }
}

/** Returns the built servers of a plan that wait for an order: one for each bare metal plan. */
export function prebuiltsOf({ id, type, specs, pricing }: Plan): object[] {
  return type === 'baremetal' ? [{ id: 30_000 + id, stock_qty: 1, specs, traffic: '100TB', pricing }] : []
}

/** The billing cycles, with the ids that prices show. */
export const cycles = [
  { id: 37, name: 'Hourly', slug: 'hourly' },
  { id: 38, name: 'Spot hourly', slug: 'spot_hourly' },
  { id: 3, name: 'Monthly', slug: 'monthly' },
  { id: 4, name: 'Quarterly', slug: 'quarterly' },
  { id: 5, name: 'Semiannually', slug: 'semiannually' },
  { id: 6, name: 'Annually', slug: 'annually' },
]

function plan({ id, name, slug, type, size, hourly }: Row): Plan {
  const { cores, memoryGb, disk } = size
  const isVps = type === 'vps'
  return {
    id,
    href: `/plans/${slug}`,
    name,
    slug,
    title: name,
    type,
    category: isVps ? 'Shared resources' : 'lightweight',
    specs: {
      cpus: {
        count: 1,
        name: isVps ? `${cores} vCore` : `CPU ${name}`,
        cores,
        frequency: isVps ? 0 : 4.3,
        unit: 'GHz',
      },
      memory: { count: 1, total: memoryGb, unit: 'GB', name: `${memoryGb}GB` },
      storage: [{ count: isVps ? 1 : 2, ...disk }],
      nics: { name: isVps ? '1Gbps' : '3Gbps' },
      bandwidth: { name: isVps ? '1TB' : '100TB' },
    },
    pricing: [{ id: 37, unit: 'Hourly', price: hourly, currency: 'EUR', taxed: false }],
    softwares: images.map(({ name: image, slug: imageSlug }) => ({ image: { name: image, slug: imageSlug } })),
  }
}
