import type { Key } from '../../kube/objects.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'
import { compareTexts, distinct } from '../shared/order.ts'

/**
 * Selects Services by labels that Cilium itself adds: only we can write what our pool serves. Where Services of several
 * namespaces share an address, it also selects others of these names in these namespaces, and nowhere else.
 */
export function servicesSelector(services: readonly Key[]): LabelSelector {
  const parts = services.map(partsOf)
  return {
    matchExpressions: [
      among('io.kubernetes.service.namespace', distinct(parts.map(([namespace]) => namespace))),
      among('io.kubernetes.service.name', distinct(parts.map(([, name]) => name))),
    ],
  }
}

/** A selector for each namespace: together they select exactly these Services. */
export function exactSelectors(services: readonly Key[]): LabelSelector[] {
  const byNamespace = Map.groupBy(services, (service) => partsOf(service)[0])
  const ordered = [...byNamespace].toSorted(([one], [other]) => compareTexts(one, other))
  return ordered.map(([, own]) => servicesSelector(own))
}

function among(key: string, values: string[]) {
  return { key, operator: 'In', values }
}

function partsOf(service: Key): [namespace: string, name: string] {
  const [namespace = '', name = ''] = service.split('/')
  return [namespace, name]
}
