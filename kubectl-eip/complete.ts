import { listAll } from '../kube/list-all.ts'
import { contextNames } from '../kube/kubeconfig.ts'
import { namespaces, services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import { formats } from './list.ts'
import { outputFormats } from './io.ts'
import type { Cluster } from './reader.ts'

/** Tells the shell not to offer files instead. */
const noFiles = ':4\n'

type Place = { kubeconfig?: string; context?: string; namespace?: string }

type Deps = {
  commands: Readonly<Record<string, readonly string[]>>
  cluster: (place: Place) => Promise<Cluster>
  print: (text: string) => void
}

/**
 * Prints the completions of the last word, in the form that kubectl expects from a plugin. After an error there are
 * none.
 */
export async function complete(words: readonly string[], { print, ...deps }: Deps): Promise<void> {
  const offers = await offersFor(words, deps).catch(() => [])
  print([...offers.filter((offer) => offer.startsWith(words.at(-1) ?? '')), noFiles].join('\n'))
}

async function offersFor(
  words: readonly string[],
  { commands, cluster }: Omit<Deps, 'print'>,
): Promise<readonly string[]> {
  const [command = '', ...more] = words
  if (words.length <= 1) return Object.keys(commands).toSorted()
  const before = more.at(-2)
  if (before === '-o' || before === '--output') return command === 'list' ? formats : outputFormats
  if (before === '--context') return contextNames({ file: placeOf(words).kubeconfig })
  if (words.at(-1)?.startsWith('-')) return commands[command] ?? []
  const isService = command === 'why' || before === '--to' || before === '--service'
  const at = await cluster(placeOf(words))
  if (before === '-n' || before === '--namespace' || before === '--allow')
    return (await listAll(at.client, namespaces)).map(({ metadata }) => metadata.name)
  if (isService) {
    const all = await listAll(at.client, services, { namespace: at.namespace })
    return all.filter(({ spec }) => spec.type === 'LoadBalancer').map(({ metadata }) => metadata.name)
  }
  if (command !== 'release' && command !== 'move') return []
  return (await listAll(at.client, elasticIPs)).map(({ metadata }) => metadata.name)
}

/** The cluster and namespace that the typed words name. */
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
