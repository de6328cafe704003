import type { Location } from '../../ports/cloud.ts'

/** The metros with managed load balancers, and their ids there: that API does not know the codes of metros. */
const metros = [
  { code: 'am', name: 'Amsterdam', id: 'lctnloc-1ttCRz-P8aY0rda9BxOiL' },
  { code: 'da', name: 'Dallas', id: 'lctnloc--uxs0GLeAELHKV8GxO_AI' },
  { code: 'dc', name: 'Washington DC', id: 'lctnloc-1lJjVT6Zp_Fs4UpW5LWQu' },
  { code: 'ny', name: 'New York', id: 'lctnloc-Vy-1Qpw31mPi6RJQwVf9A' },
  { code: 'sg', name: 'Singapore', id: 'lctnloc-AxCxpIrNUaaoGBkM02uuw' },
  { code: 'sv', name: 'Silicon Valley', id: 'lctnloc-H5rl2M2VL5dcFmdxhbEKx' },
]

/** Where managed load balancers can be created. */
export const balancerMetros: readonly Location[] = metros.map(({ code, name }) => ({ code, name, kind: 'metro' }))

/** The id of a metro in the API of managed load balancers. */
export function locationId(code: string): string | undefined {
  return metros.find((metro) => metro.code === code)?.id
}

/** The code of a metro, by its id in the API of managed load balancers. */
export function locationCode(id: string): string | undefined {
  return metros.find((metro) => metro.id === id)?.code
}
