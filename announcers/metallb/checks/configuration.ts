import { keyOf } from '../../../kube/objects.ts'
import { type IpAddress, parseIpAddress, isInRanges } from '../../../lib/ip-address.ts'
import { type SoftwareFacts, type SoftwareFinding, type SoftwareFindings, defineSoftwareCheck } from '../../check.ts'
import { describeCommand, editCommand } from '../../shared/programs.ts'
import { readMetallbDocument } from '../read-document.ts'
import { isPool, isState } from '../resources.ts'
import { isWritten } from '../../shared/own-objects.ts'
import { logCommand, metallbContainers } from './programs.ts'
import { shell } from '../../../lib/remedy.ts'

export const metallbReports = defineSoftwareCheck({
  id: 'metallb-reports',
  checks: 'MetalLB accepts its configuration, if it reports that (0.15.3 and later).',
  good: 'MetalLB reports no problem with its configuration',
  needs: ['metallb'],
  judge({ metallb }, { loadBalancer }) {
    const states = metallb.filter(isState)
    if (states.length === 0)
      return {
        level: 'manual',
        what: 'MetalLB does not report whether it accepts its configuration',
        why: 'MetalLB 0.15.3 and later report it',
        fix: logCommand('controller', loadBalancer),
      }
    return states
      .filter(({ status }) => status?.result === 'Invalid')
      .map((state) => ({
        level: 'error',
        what: `ConfigurationState ${keyOf(state)}: ${state.status?.errorSummary ?? 'the configuration is invalid'}`,
        why: 'MetalLB continues with its last valid configuration, and announces nothing new',
        fix: { command: describeCommand(state) },
      }))
  },
})

export const metallbDocumentCheck = defineSoftwareCheck({
  id: 'metallb-document',
  checks: 'MetalLB before 0.13 accepts its ConfigMap: it exists, it is YAML, and no part of it is refused.',
  good: 'MetalLB can read its ConfigMap',
  needs: ['document', 'definitions', 'workloads'],
  kinds: ['metallb', 'metallb-configmap'],
  judge({ document, definitions, workloads }, { loadBalancer }) {
    if (document) return refusals(document)
    if (!('name' in loadBalancer)) return []
    // If MetalLB's CRDs exist, it reads objects.
    if (loadBalancer.kind === 'metallb' && definitions.length > 0) return []
    const { namespace, name } = loadBalancer
    const programs = metallbContainers(workloads)
    // Another check reports MetalLB in another namespace, where a ConfigMap here would not help.
    if (programs.length > 0 && !programs.some(({ workload }) => workload.metadata.namespace === namespace)) return []
    return {
      level: 'error',
      what: `ConfigMap ${namespace}/${name} does not exist`,
      why: 'MetalLB has no configuration, and `serve` changes it only where there is one',
      fix: shell`kubectl create configmap -n ${namespace} ${name} --from-literal=config='address-pools: []'`,
    }
  },
})

function refusals(document: NonNullable<SoftwareFacts['document']>): SoftwareFindings {
  return readMetallbDocument(document).problems.map((problem) => ({
    level: 'error',
    what: `ConfigMap ${keyOf(document)}, config: ${problem}`,
    why: 'MetalLB refuses its whole configuration, and announces nothing new',
    fix: { command: editCommand(document) },
  }))
}

/** A pool of MetalLB, from either form of its configuration. `edit` is the command that changes it. */
type Pool = { what: string; addresses: readonly string[]; isOurs: boolean; edit: string }

export const overlappingPools = defineSoftwareCheck({
  id: 'overlapping-pools',
  checks: 'No two pools of MetalLB share addresses, in its objects or in its ConfigMap.',
  good: 'no two pools of MetalLB share addresses',
  needs: ['metallb', 'document'],
  // Each MetalLB reads one of the two forms.
  judge: ({ metallb, document }) => [...overlaps(objectPools(metallb)), ...overlaps(documentPools(document))],
})

function objectPools(metallb: SoftwareFacts['metallb']): Pool[] {
  return metallb.filter(isPool).map((pool) => ({
    what: `IPAddressPool ${keyOf(pool)}`,
    addresses: pool.spec.addresses,
    isOurs: isWritten(pool),
    edit: `kubectl edit ipaddresspools.metallb.io -n ${pool.metadata.namespace} ${pool.metadata.name}`,
  }))
}

function documentPools(document: SoftwareFacts['document']): Pool[] {
  if (!document) return []
  return readMetallbDocument(document).pools.map(({ name, addresses }) => ({
    what: `pool ${JSON.stringify(name)} of ConfigMap ${keyOf(document)}`,
    addresses,
    // A document does not show who wrote a pool.
    isOurs: false,
    edit: editCommand(document),
  }))
}

function overlaps(pools: readonly Pool[]): SoftwareFinding[] {
  return pools.flatMap((one, n) =>
    pools.slice(n + 1).flatMap((other): SoftwareFindings => {
      const shared = sharedRanges(one, other)
      if (shared === undefined) return []
      const { edit } = other.isOurs ? one : other
      const whose = one.isOurs || other.isOurs ? 'this pool' : 'the pool that eip-admission does not manage'
      return {
        level: 'error',
        what: `${one.what} and ${other.what} share addresses: ${shared}`,
        why: 'MetalLB refuses its whole configuration, and announces nothing new',
        fix: shell`${edit}   # take the range out of ${whose}, or delete that pool`,
      }
    }),
  )
}

function sharedRanges(one: Pool, other: Pool): string | undefined {
  for (const first of one.addresses)
    for (const second of other.addresses) {
      // Overlapping ranges always have the first or last address of one in the other.
      const isShared =
        addressesOf(first).some((address) => isInRanges(address, [second])) ||
        addressesOf(second).some((address) => isInRanges(address, [first]))
      if (isShared) return `${first} and ${second}`
    }
  return undefined
}

/** Both ends of `a-b`, or the address of a network. */
function addressesOf(range: string): IpAddress[] {
  const texts = range.includes('-') ? range.split('-') : [range.split('/')[0] ?? '']
  return texts.flatMap((text) => parseIpAddress(text.trim()) ?? [])
}
