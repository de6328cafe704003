import { metallbSharingAnnotations } from '../../../announcers/metallb/names.ts'
import { type KubeObject, keyOf } from '../../../kube/objects.ts'
import type { Judged } from './judged.ts'
import type { Finding, Findings } from './plan.ts'

function sharingKey({ metadata }: KubeObject): string | undefined {
  return metallbSharingAnnotations.map((name) => metadata.annotations?.[name]).find((key) => key !== undefined)
}

/** Addresses that several Services show. MetalLB lets those with one sharing key have one address. */
export function sharedAddresses(judged: readonly Judged[]): Findings {
  const blockers: Finding[] = []
  const warnings: Finding[] = []
  const groups = Map.groupBy(judged, ({ planned }) => planned.before)
  for (const [address, group] of groups) {
    if (address === undefined || group.length < 2) continue
    const namespaces = new Set(group.map(({ planned }) => planned.namespace))
    const keys = new Set(group.map(({ service }) => sharingKey(service)))
    const finding: Finding = {
      reason: 'shared-address',
      where: group.map(({ service }) => `Service ${keyOf(service)}`).join(', '),
      what: `they show one address, ${address}`,
      remedy: 'give all but one of them another address',
    }
    if (namespaces.size > 1) blockers.push(finding)
    else if (keys.size > 1 || keys.has(undefined)) warnings.push(finding)
  }
  return { blockers, warnings }
}
