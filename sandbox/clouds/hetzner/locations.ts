/** A location, as the API shows it. */
export type Location = {
  id: number
  name: string
  description: string
  country: string
  city: string
  latitude: number
  longitude: number
  network_zone: string
}

function location(id: number, name: string, rest: [description: string, country: string, city: string, zone: string]) {
  const [description, country, city, network_zone] = rest
  return { id, name, description, country, city, latitude: 0, longitude: 0, network_zone }
}

/** The vendor's locations; the ids of the last three are not documented. */
export const locations: Location[] = [
  location(1, 'fsn1', ['Falkenstein DC Park 1', 'DE', 'Falkenstein', 'eu-central']),
  location(2, 'nbg1', ['Nuremberg DC Park 1', 'DE', 'Nuremberg', 'eu-central']),
  location(3, 'hel1', ['Helsinki DC Park 1', 'FI', 'Helsinki', 'eu-central']),
  location(4, 'ash', ['Ashburn, VA', 'US', 'Ashburn, VA', 'us-east']),
  location(5, 'hil', ['Hillsboro, OR', 'US', 'Hillsboro, OR', 'us-west']),
  location(6, 'sin', ['Singapore', 'SG', 'Singapore', 'ap-southeast']),
]

/** Returns the location with this name or id. */
export function findLocation(given: unknown): Location | undefined {
  return locations.find(({ id, name }) => name === given || String(id) === String(given))
}
