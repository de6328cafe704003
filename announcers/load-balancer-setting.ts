import { anyCase } from '../settings/formats.ts'
import type { Format, Reading } from '../settings/setting.ts'
import { oneOf, closestWord } from '../lib/text.ts'
import { softwares } from './announcers.ts'
import type { LoadBalancer, LoadBalancerDialect, LoadBalancerScheme, Parts, Reach } from './setting.ts'
import type { Software } from './software.ts'

function schemesOf(all: readonly Software[]): Record<string, LoadBalancerScheme> {
  return Object.assign({}, ...all.map(({ schemes }) => schemes)) as Record<string, LoadBalancerScheme>
}

/** The values of the load balancer setting that are not specific to a provider, with their form and meaning. */
export const loadBalancerValues: readonly { written: string; meaning: string }[] = [
  { written: 'none', meaning: 'No load balancing: no addresses, no BGP, no announcing software.' },
  ...Object.values(schemesOf(softwares)),
]

function knownIn({ offers = everyReach, managed }: LoadBalancerDialect): [name: string, scheme: LoadBalancerScheme][] {
  const offered = softwares.filter(({ needs }) => needs === undefined || offers.includes(needs))
  return Object.entries({ ...schemesOf(offered), ...managed })
}

const everyReach: readonly Reach[] = ['bgp', 'assignment']

/** The values of the setting that a dialect's provider offers, without their optional parts. */
export function schemesFor(dialect: LoadBalancerDialect): string[] {
  return knownIn(dialect).map(([, { written }]) => written.split('[')[0] ?? written)
}

/** The format of the load balancer setting in a dialect. */
export function loadBalancer(dialect: LoadBalancerDialect): Format<LoadBalancer> {
  const { offers = everyReach } = dialect
  const known = knownIn(dialect)
  const right = `one of ${['none', ...known.map(([, scheme]) => scheme.written)].join(', ')}`
  return {
    placeholder: 'url',
    pattern: `^(${anyCase('none')}|(${known.map(([name]) => anyCase(name)).join('|')})://.*)$`,
    read: (given) => {
      if (given.toLowerCase() === 'none') return { value: { kind: 'none' } }
      const url = URL.parse(given)
      const [, scheme] = known.find(([name]) => url?.protocol === `${name}:`) ?? []
      if (!url || !scheme) return { right: `${right}${lacking(given, offers) ?? meant(given, known)}` }
      const parts = partsOf(url, scheme)
      const reading = 'right' in parts ? parts : scheme.read(parts.value, dialect)
      return 'right' in reading ? { right: `a URL with ${reading.right}; ${right}` } : reading
    },
  }
}

/** Why a known scheme cannot be chosen: the provider lacks what its software needs. */
function lacking(given: string, offers: readonly Reach[]): string | undefined {
  const scheme = given.toLowerCase().split(':')[0] ?? ''
  const { needs } = softwares.find(({ schemes }) => scheme in schemes) ?? {}
  if (needs === undefined || offers.includes(needs)) return undefined
  return `; ${scheme} needs ${reaches[needs]}, which this cloud does not offer`
}

const reaches: Record<Reach, string> = {
  bgp: 'BGP sessions of nodes',
  assignment: 'addresses that are assigned to machines',
}

/** The suggestion of a scheme with a similar spelling, for the message. */
function meant(given: string, known: [name: string, scheme: LoadBalancerScheme][]): string {
  const [, scheme = given] = /^([^:/]*):/.exec(given) ?? []
  const near = closestWord(scheme, ['none', ...known.map(([name]) => name)], (word) => Math.min(3, word.length / 2))
  return near === undefined || near === scheme ? '' : `; did you mean ${near}?`
}

/** The path and the parameters of a URL; a URL with a host or an unknown parameter is refused. */
function partsOf(url: URL, { parameters, depth }: LoadBalancerScheme): Reading<Parts> {
  // `metallb://metallb-system` has a host and no path: without this check we would silently use the default namespace.
  if (url.host !== '' || !url.href.includes('://')) return { right: 'three slashes, because it has no host' }
  const unknown = [...url.searchParams.keys()].find((key) => !parameters.includes(key))
  if (unknown !== undefined) {
    const known = parameters.length === 0 ? 'no parameters' : `no parameters but ${oneOf(parameters)}`
    return { right: `${known} (this one has ${JSON.stringify(unknown)})` }
  }
  const path = url.pathname.split('/').filter((part) => part !== '')
  if (path.length > depth) return { right: depth === 0 ? 'no path' : `a path of at most ${depth} parts` }
  return { value: { path, parameters: Object.fromEntries(url.searchParams) } }
}
