import { listAll } from '../kube/list-all.ts'
import { services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import type { Cluster } from './reader.ts'

const commands = ['adopt', 'list', 'move', 'release', 'status', 'why']

/** The shell shall not offer files where we have nothing. */
const noFiles = ':4\n'

type Place = { kubeconfig?: string; context?: string; namespace?: string }

type Deps = { cluster: (place: Place) => Promise<Cluster>; print: (text: string) => void }

/** Prints what the last word may become, as kubectl asks a plugin's completion for it. Errors offer nothing. */
export async function complete(words: readonly string[], { cluster, print }: Deps): Promise<void> {
  const offers = await offersFor(words, cluster).catch(() => [])
  print([...offers.filter((offer) => offer.startsWith(words.at(-1) ?? '')), noFiles].join('\n'))
}

async function offersFor(words: readonly string[], cluster: Deps['cluster']): Promise<string[]> {
  const [command, ...more] = words
  if (words.length <= 1) return commands
  const before = more.at(-2)
  if (command === 'list' && (before === '-o' || before === '--output')) return ['wide', 'json', 'yaml']
  const isService = command === 'why' || before === '--to' || before === '--service'
  const at = await cluster(placeOf(words))
  if (isService) {
    const all = await listAll(at.client, services, { namespace: at.namespace })
    return all.filter(({ spec }) => spec.type === 'LoadBalancer').map(({ metadata }) => metadata.name)
  }
  if (command !== 'release' && command !== 'move') return []
  return (await listAll(at.client, elasticIPs)).map(({ metadata }) => metadata.name)
}

/** Where the words typed so far point to. */
function placeOf(words: readonly string[]): Place {
  const valueAfter = (...flags: string[]) => {
    const joined = words.findLast((word) => flags.some((flag) => word.startsWith(`${flag}=`)))
    const at = words.findLastIndex((word) => flags.includes(word))
    return joined?.slice(joined.indexOf('=') + 1) ?? (at < 0 ? undefined : words[at + 1])
  }
  const [namespace, context, file] = [
    valueAfter('-n', '--namespace'),
    valueAfter('--context'),
    valueAfter('--kubeconfig'),
  ]
  return {
    ...(namespace && { namespace }),
    ...(context && { context }),
    ...(file && { kubeconfig: file }),
  }
}
