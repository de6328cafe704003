import type { Announcements, DocumentConfiguration } from '../announcer.ts'
import { parseAddress, prefixOf } from './address.ts'
import { announceable } from './addresses.ts'
import { peerChange } from './document-peers.ts'
import { isPoolOfOurs, poolChange } from './document-pools.ts'
import { distinct, distinctProblems } from './order.ts'
import { possibleSessions } from './sessions.ts'
import { type Yaml, changeLists, listOf, readYaml } from './yaml-lists.ts'

export type DocumentOptions = {
  namespace: string
  name: string
  /** The domain of the labels that no node has, by which a peer counts the Services it is there for. */
  counting: string
}

/** MetalLB up to 0.12, by the ConfigMap that it shares with whoever runs it. */
export function metallbDocument({ namespace, name, counting }: DocumentOptions): DocumentConfiguration {
  const at = { namespace, name, key: 'config' }
  return {
    kind: 'document',
    at,
    edit: (document, state) => legibly(at, () => edit(document, state, counting)),
    announces: (document, text) =>
      legibly(at, () => {
        const address = parseAddress(text)
        return address !== undefined && poolsIn(readYaml(document)).has(prefixOf(address))
      }),
  }
}

function edit(text: string, state: Announcements, counting: string): ReturnType<DocumentConfiguration['edit']> {
  const yaml = readYaml(text)
  const { shown, problems } = announceable(state.addresses, ['ipv4'])
  const ofServices = shown.filter(({ services }) => services.length > 0)
  const pools = poolChange(listOf(yaml, 'address-pools'), ofServices)
  const services = distinct(ofServices.flatMap((one) => one.services))
  const { sessions, problems: unspoken } = possibleSessions(services.length > 0 ? state.nodes : [], ['ipv4'])
  const peers = peerChange(listOf(yaml, 'peers'), sessions, { counting, services })
  return {
    document: changeLists(yaml, { peers, 'address-pools': pools.change }),
    problems: distinctProblems([...problems, ...pools.problems, ...unspoken]),
  }
}

function poolsIn(yaml: Yaml): Set<string> {
  return new Set(
    listOf(yaml, 'address-pools')
      .filter(isPoolOfOurs)
      .flatMap(({ addresses }) => addresses),
  )
}

/** Says where the document is that cannot be read. Passwords are in it: no message quotes it. */
function legibly<T>({ namespace, name, key }: DocumentConfiguration['at'], read: () => T): T {
  try {
    return read()
  } catch (error) {
    const what = error instanceof Error ? error.message : 'it cannot be read'
    const mend = `kubectl -n ${namespace} edit configmap ${name}`
    throw new Error(`ConfigMap ${namespace}/${name}, ${key}: ${what}. Nothing was written; mend it with ${mend}`, {
      cause: error,
    })
  }
}
