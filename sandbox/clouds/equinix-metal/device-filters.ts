import { macOf } from './render-device.ts'
import { type Device, type State, assignmentsOf } from './state.ts'

type Filter = (device: Device, wanted: string, state: State) => boolean

const isTrue = (text: string) => text === 'true'

/** The query parameters of `GET /projects/{id}/devices`, and which devices each of them matches. */
const filters: Record<string, Filter> = {
  search: (device, wanted, state) => searchTexts(device, state).some((text) => text.includes(wanted)),
  hostname: (device, wanted) => device.hostname.includes(wanted),
  tag: (device, wanted) => device.settings.tags.includes(wanted),
  metro: (device, wanted) => device.metro.code === wanted.toLowerCase() || device.metro.id === wanted,
  facility: (device, wanted) => device.facility.code === wanted.toLowerCase() || device.facility.id === wanted,
  categories: (device, wanted) => wanted.split(',').some((category) => device.plan.categories.includes(category)),
  type: (device, wanted) => typeOf(device) === wanted,
  reserved: (device, wanted) => (device.hardwareReservation !== undefined) === isTrue(wanted),
  has_termination_time: (device, wanted) => (device.terminationTime !== undefined) === isTrue(wanted),
  mac_address: ({ mac }, wanted) => [mac, macOf(mac, 'eth1')].includes(wanted.toLowerCase()),
}

/** Whether a device matches every filter of a query. */
export function matchesFilters(state: State, device: Device, query: Record<string, unknown>): boolean {
  return Object.entries(filters).every(([name, filter]) => {
    const wanted = query[name]
    return typeof wanted !== 'string' || filter(device, wanted, state)
  })
}

function typeOf({ settings, hardwareReservation }: Device): 'ondemand' | 'spot' | 'reserved' {
  if (settings.spot_instance) return 'spot'
  return hardwareReservation === undefined ? 'ondemand' : 'reserved'
}

function searchTexts(device: Device, state: State): string[] {
  const { id, hostname, plan, facility, operatingSystem, settings } = device
  const addresses = assignmentsOf(state, device).map(({ address }) => address)
  const words = [hostname, settings.description ?? '', id.slice(0, 8), plan.slug, facility.code, facility.name]
  return [...words, operatingSystem, ...settings.tags, ...addresses]
}
