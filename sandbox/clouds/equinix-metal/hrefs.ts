/** The base path of the API; every `href` begins with it. */
export const basePath = '/metal/v1'

export type Kind =
  | 'projects'
  | 'devices'
  | 'ips'
  | 'bgp/sessions'
  | 'bgp-configs'
  | 'locations/metros'
  | 'facilities'
  | 'plans'
  | 'users'
  | 'hardware-reservations'
  | 'ports'
  | 'organizations'
  | 'ssh-keys'
  | 'events'

/** Returns a reference to an object. */
export function href(kind: Kind, id: string): { href: string } {
  return { href: `${basePath}/${kind}/${id}` }
}
