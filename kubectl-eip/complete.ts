import { parseArgs } from 'node:util'
import { listAll } from '../kube/list-all.ts'
import { contextNames } from '../kube/kubeconfig.ts'
import type { KubeObject } from '../kube/objects.ts'
import { namespaces, services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import type { Cluster } from './reader.ts'

/** Tells the shell to offer files, or not to. */
const [files, noFiles] = [':0\n', ':4\n']

type Place = { kubeconfig?: string; context?: string; namespace?: string }

/** A command, as far as commander knows what may follow it. */
type Known = {
  name(): string
  options: readonly { short?: string; long?: string; required: boolean; argChoices?: string[] }[]
}

type Deps = {
  commands: readonly Known[]
  cluster: (place: Place) => Promise<Cluster>
  print: (text: string) => void
}

/**
 * Prints the completions of the last word, in the form that kubectl expects from a plugin. After an error there are
 * none.
 */
export async function complete(words: readonly string[], { print, ...deps }: Deps): Promise<void> {
  const offers = await offersFor(words, deps).catch(() => [])
  const isFile = words.at(-2) === '--kubeconfig'
  print([...offers.filter((offer) => offer.startsWith(words.at(-1) ?? '')), isFile ? files : noFiles].join('\n'))
}

async function offersFor(
  words: readonly string[],
  { commands, cluster }: Omit<Deps, 'print'>,
): Promise<readonly string[]> {
  if (words.length <= 1) return commands.map((one) => one.name()).toSorted()
  const [name = ''] = words
  const options = commands.find((one) => one.name() === name)?.options ?? []
  if (words.at(-1)?.startsWith('-')) return options.flatMap(({ long }) => long ?? []).concat('--help')
  const flag = options.find(({ short, long, required }) => required && [short, long].includes(words.at(-2)))
  if (flag?.argChoices) return flag.argChoices
  const place = placeOf(words)
  const namesOf = (objects: KubeObject[]) => objects.map(({ metadata }) => metadata.name)
  switch (flag?.long ?? name) {
    case '--context':
      return contextNames({ file: place.kubeconfig })
    case '--namespace':
    case '--allow':
      return namesOf(await listAll((await cluster(place)).client, namespaces))
    case '--to':
    case '--service':
    case 'why': {
      const { client, namespace } = await cluster(place)
      return namesOf(
        (await listAll(client, services, { namespace })).filter(({ spec }) => spec.type === 'LoadBalancer'),
      )
    }
    case 'release':
    case 'move':
      return namesOf(await listAll((await cluster(place)).client, elasticIPs))
    default:
      return []
  }
}

/** The cluster and namespace that the typed words name. */
function placeOf(words: readonly string[]): Place {
  const { values } = parseArgs({
    args: [...words],
    options: { namespace: { type: 'string', short: 'n' }, context: { type: 'string' }, kubeconfig: { type: 'string' } },
    strict: false,
  })
  // A flag whose value is not typed yet is true.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string' && value !== ''))
}
