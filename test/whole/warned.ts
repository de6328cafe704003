import type { KubeClient } from '../../kube/client.ts'
import { events } from '../../kube/resource.ts'
import { eventually } from './eventually.ts'

/** Waits for a warning Event about a Service whose reason and message, as one text, match. */
export function warned({ client }: { client: KubeClient }, key: string, words: RegExp): Promise<true> {
  const [namespace = '', name] = key.split('/')
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name}`
  return eventually(`an Event on Service ${key} says ${words}`, async (observe) => {
    const { items } = await client.list(events, { namespace, fieldSelector })
    const texts = items.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason} ${message}`)
    return observe(texts).some((text) => words.test(text)) || undefined
  })
}
