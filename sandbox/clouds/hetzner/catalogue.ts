// The products that every project can order besides floating IPs. The vendor's clients look up the names that a person
// gives them.
import { locations } from './locations.ts'

const price = (net: string) => ({ net, gross: (Number(net) * 1.19).toFixed(4) })

/** The types of servers that an order may name. */
export const serverTypes = [
  { id: 22, name: 'cpx22', description: 'CPX 22', cores: 2, memory: 4, disk: 80 },
  { id: 33, name: 'cpx32', description: 'CPX 32', cores: 4, memory: 8, disk: 160 },
].map((type) => ({
  ...type,
  category: 'regular_purpose',
  architecture: 'x86',
  cpu_type: 'shared',
  storage_type: 'local',
  deprecated: false,
  deprecation: null,
  prices: locations.map(({ name }) => ({
    location: name,
    price_hourly: price('0.0104'),
    price_monthly: price('6.49'),
    included_traffic: 0,
    price_per_tb_traffic: price('1.00'),
  })),
  locations: locations.map(({ id, name }) => ({ id, name, available: true, recommended: true, deprecation: null })),
}))

export type ServerType = (typeof serverTypes)[number]

/** The images that an order may name. */
export const images = [
  { id: 161_547_269, name: 'ubuntu-24.04', description: 'Ubuntu 24.04', os_flavor: 'ubuntu', os_version: '24.04' },
  { id: 310_557_660, name: 'debian-13', description: 'Debian 13', os_flavor: 'debian', os_version: '13' },
].map((image) => ({
  ...image,
  status: 'available',
  type: 'system',
  image_size: null,
  disk_size: 5,
  created: '2024-04-25T13:26:44+00:00',
  created_from: null,
  bound_to: null,
  architecture: 'x86',
  rapid_deploy: true,
  protection: { delete: false },
  deprecated: null,
  deleted: null,
  labels: {},
}))

export type Image = (typeof images)[number]

/** The private network that every server is in; the API shows its ranges here alone. */
export const networks = [
  {
    id: 7,
    name: 'private',
    ip_range: '10.0.0.0/16',
    subnets: [{ type: 'cloud', ip_range: '10.0.0.0/20', network_zone: 'eu-central', gateway: '10.0.0.1' }],
    routes: [],
    servers: [],
    load_balancers: [],
    protection: { delete: false },
    labels: {},
    created: '2024-04-25T13:26:44+00:00',
    expose_routes_to_vswitch: false,
  },
]

/** The prices of floating IPs, which a project pays by the month. */
export const pricing = {
  currency: 'EUR',
  vat_rate: '19.00',
  floating_ips: ['ipv4', 'ipv6'].map((type) => ({
    type,
    prices: locations.map(({ name }) => ({ location: name, price_monthly: price('3.00') })),
  })),
  server_types: serverTypes.map(({ id, name, prices }) => ({ id, name, prices })),
  primary_ips: [],
  load_balancer_types: [],
  server_backup: { percentage: '20.00' },
}
