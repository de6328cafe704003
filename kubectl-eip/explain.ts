import { type Key, type KubeEvent, type Service, keyOf } from '../kube/objects.ts'
import { statusTexts, addressConditionOf } from '../ledger/record/address-use.ts'
import { type ElasticIP, heldAddress, phaseOf } from '../ledger/record/elastic-ip.ts'
import { addressAnnotation, balancerFinalizer, balancerRequestAnnotation } from '../ledger/record/names.ts'
import type { Preview } from './preview.ts'
import { type Readable, valueOf } from './reader.ts'
import { shownBalancer } from '../clouds/cloud-choice.ts'

export type WhySeen = {
  key: Key
  service: Service | undefined
  record: Readable<ElasticIP | undefined>
  /** The records of second addresses. */
  seconds: readonly ElasticIP[]
  events: Readable<KubeEvent[]>
  /** The namespace of eip-admission. */
  installedIn: string
  /** Requested only if neither the Service nor its record has an address. */
  preview?: Preview | undefined
}

/** A sentence about the state, and another about what to do. */
export type Verdict = { is: string; todo: string }

const nothing = 'No action needed.'
const doctor =
  'ask an operator to run `kubectl eip status`, and `eip-admission doctor` with the settings of the process'

/** Explains the state of a Service. Pure. */
export function explain(seen: WhySeen): Verdict {
  const { key, service } = seen
  const record = valueOf(seen.record)
  if (!service) return explainAbsent(key, [...(record ? [record] : []), ...seen.seconds])
  if (service.metadata.deletionTimestamp) return explainDeletion(service, record)
  const { type } = service.spec
  if (type !== 'LoadBalancer') {
    const is = `Service ${key} needs no address: its type is ${type ?? 'ClusterIP'}.`
    return { is, todo: 'If it should have one, set spec.type to LoadBalancer.' }
  }
  const shown = shownAddress(service)
  return shown === undefined ? explainMissing(seen, service, record) : explainShown({ key, service, shown, record })
}

/** The address or the name in the status of a Service, which the network should know. */
export function shownAddress(service: Service): string | undefined {
  return statusTexts(service)[0]
}

function explainAbsent(key: Key, records: readonly ElasticIP[]): Verdict {
  const absent = `There is no Service ${key}`
  const [record] = records
  if (!record) return { is: `${absent}.`, todo: 'Check the name, and the namespace (-n).' }
  const kept = records.filter((one) => phaseOf(one) === 'Released')
  if (kept.length > 0) {
    const addresses = kept.map(addressOf).join(' and ')
    const [are, it] = kept.length > 1 ? ['are', 'them'] : ['is', 'it']
    const releases = kept.map(({ metadata }) => `\`kubectl eip release ${metadata.name}\``).join(' and ')
    return {
      is: `Service ${key} no longer exists, and ${addresses} ${are} kept for it (reclaim policy Retain).`,
      todo: `Create the Service again to use ${it}, or release ${it} with ${releases}.`,
    }
  }
  const address = addressOf(record)
  const isNew = phaseOf(record) === 'Requested' || phaseOf(record) === 'Reserved'
  const is = isNew
    ? `${absent}, but ${address} was reserved for it: the API server refused the Service after that, or it is being created.`
    : `Service ${key} no longer exists, and ${address} is being released${because(record)}.`
  return {
    is,
    todo: 'Wait: eip-admission releases it automatically, a new address after a grace period of 15 minutes.',
  }
}

/** The address of a record, for a message. */
export function addressOf({ status }: ElasticIP): string {
  return status?.address ?? 'its address'
}

function explainDeletion(service: Service, record: ElasticIP | undefined): Verdict {
  const finalizers = service.metadata.finalizers ?? []
  const foreign = finalizers.filter((name) => !name.includes('eip-admission.dev/'))
  const ours = foreign.length < finalizers.length
  const waits = ours ? ownWait(service, record) : `it waits for others: ${foreign.join(', ') || 'no finalizer'}`
  const is = `Service ${keyOf(service)} is being deleted: ${waits}.`
  const todo = ours
    ? `Wait; if this takes more than a few minutes, ${doctor}.`
    : 'Look for the program that wrote these finalizers.'
  return { is, todo }
}

function ownWait(service: Service, record: ElasticIP | undefined): string {
  const balancer = balancerOf(service)
  if (balancer) return `its ${balancerText(balancer)} is being deleted`
  const shown = shownAddress(service)
  return shown === undefined
    ? `its reservation is being deleted${because(record)}`
    : `${shown} is being withdrawn from the network`
}

type Shown = { key: Key; service: Service; shown: string; record: ElasticIP | undefined }

function explainShown({ key, service, shown, record }: Shown): Verdict {
  const held = record?.status?.address
  if (held !== undefined && held !== shown) {
    return {
      is: `Service ${key} shows ${shown}, but its ElasticIP ${record?.metadata.name} has ${held}.`,
      todo: 'Wait a minute: the controller writes what the ElasticIP has. If nothing changes, see the Events above.',
    }
  }
  const has = `Service ${key} has the address ${shown}`
  if (held !== undefined) return { is: `${has}: ${originOf(record)}.`, todo: nothing }
  const balancer = balancerOf(service)
  if (balancer) return { is: `${has}: that of its ${balancerText(balancer)}.`, todo: nothing }
  const ours = service.metadata.annotations?.[addressAnnotation]
  if (ours === shown) return { is: `${has}; eip-admission wrote it.`, todo: nothing }
  const how =
    service.spec.loadBalancerIP === shown ? 'its user chose it in spec.loadBalancerIP' : 'other software assigned it'
  return { is: `${has}, and ${how}.`, todo: nothing }
}

function originOf(record: ElasticIP | undefined): string {
  const { source, location } = record?.spec ?? {}
  const place = location === undefined ? '' : ` in ${location}`
  if (source?.type === 'Provisioned') return `that of ElasticIP ${source.name}, which it requests by name`
  if (source?.type === 'WarmPool') return `it was in the warm pool${place}`
  return `it is reserved for this Service${place}`
}

function explainMissing(seen: WhySeen, service: Service, record: ElasticIP | undefined): Verdict {
  const { key } = seen
  const none = `Service ${key} has no address`
  const balancer = balancerOf(service)
  if (balancer) {
    const todo = 'eip-admission tries again automatically. The Events above say what it waits for.'
    return { is: `${none} yet: ${missingText(balancer)}.`, todo }
  }
  const unheld = record && explainUnheld(record, none)
  if (unheld) return unheld
  const held = record ? heldAddress(record) : service.metadata.annotations?.[addressAnnotation]
  const condition = addressConditionOf(service)
  if (held !== undefined && condition?.reason === 'NotAnnounced') {
    const is = `${none}: ${condition.message.replace(/\.$/, '')}.`
    return { is, todo: 'Change what this names. The announcing software checks again automatically.' }
  }
  if (held !== undefined) {
    return {
      is: `${held} is reserved for Service ${key}, but its status does not show it: no announcing software has taken it.`,
      todo: `Look at the Events of the announcing software above; for the whole cluster, ${doctor}.`,
    }
  }
  if (record) {
    return {
      is: `${none} yet: ${reasonOf(record)}.`,
      todo: 'eip-admission tries again automatically. Do what the message says, if it names something.',
    }
  }
  return explainUnrecorded(seen, service, none)
}

/** Explains a record that does not hold its address for the Service, so no announcing software should use it. */
function explainUnheld(record: ElasticIP, none: string): Verdict | undefined {
  const phase = phaseOf(record)
  if (phase === 'Releasing') {
    return {
      is: `${none} yet: ${addressOf(record)} is being released${because(record)}.`,
      todo: 'Wait: after that eip-admission gives the Service an address. Do what the message says, if it names something.',
    }
  }
  if (phase !== 'Released') return undefined
  const release = `\`kubectl eip release ${record.metadata.name}\``
  return {
    is: `${none} yet, although ${addressOf(record)} is kept for its name${because(record)}.`,
    todo: `See the Events above: they say why the Service does not get it. Change what they name, or release it with ${release}.`,
  }
}

function explainUnrecorded({ record, preview }: WhySeen, service: Service, none: string): Verdict {
  const { loadBalancerClass, loadBalancerIP } = service.spec
  if (loadBalancerIP) {
    const is = `${none}: it requests ${loadBalancerIP} as its own in spec.loadBalancerIP, and nothing announces that.`
    return { is, todo: 'See the Events above: they say whether it may have that address.' }
  }
  switch (preview?.kind) {
    case 'denied':
      return {
        is: `${none}: ${preview.reason}`,
        todo: 'Change what this names; the controller checks again immediately.',
      }
    case 'unreviewed': {
      const said = preview.warnings.find((text) => text.startsWith('eip-admission '))
      if (said !== undefined) return { is: `${none}: ${said}.`, todo: 'The Service gets its address once that is set.' }
      return loadBalancerClass === undefined
        ? { is: `${none}: eip-admission did not review it.`, todo: `To learn why, ${doctor}.` }
        : {
            is: `${none} from eip-admission: it is for software of class ${loadBalancerClass}.`,
            todo: 'Ask that software, or create the Service without spec.loadBalancerClass.',
          }
    }
    case 'accepted':
      return {
        is: `${none} yet, and eip-admission would give it one.`,
        todo: `Wait a few seconds. If nothing changes, there is no leader: ${doctor}.`,
      }
    case 'unknown':
    case undefined: {
      const hidden = 'missing' in record ? `, and you may not ${record.missing}` : ''
      const refused = preview?.kind === 'unknown' ? `: the API server says ${preview.reason}` : ''
      const condition = addressConditionOf(service)
      if (condition?.status === 'False') return { is: `${none}: ${condition.message}`, todo: 'See the Events above.' }
      return {
        is: `${none}${hidden}; what eip-admission decides about it is unknown${refused}.`,
        todo: 'See the Events above.',
      }
    }
  }
}

function reasonOf(record: ElasticIP): string {
  const { message, history } = record.status ?? {}
  return (message ?? history?.at(-1)?.message ?? 'the provider has been asked for it').replace(/\.$/, '')
}

function because(record: ElasticIP | undefined): string {
  return record?.status?.message === undefined ? '' : ` (${record.status.message.replace(/\.$/, '')})`
}

/** The facts about a managed balancer that its Service shows. */
type ShownBalancer = {
  id: string | undefined
  location: string | undefined
  /** Whether a request for it may still succeed. */
  isRequested: boolean
}

/**
 * The managed balancer of a Service; undefined if it wants none from us. It has no record, so the Service shows all we
 * know.
 */
export function balancerOf({ metadata: { annotations = {}, finalizers = [] } }: Service): ShownBalancer | undefined {
  if (!finalizers.includes(balancerFinalizer)) return undefined
  return {
    ...shownBalancer(annotations),
    isRequested: annotations[balancerRequestAnnotation] !== undefined,
  }
}

/** The name of a balancer for people. */
export function balancerText({ id, location }: ShownBalancer): string {
  const place = location === undefined ? '' : ` in ${location}`
  return id === undefined ? `managed load balancer${place}` : `managed load balancer ${id}${place}`
}

/** Why a balancer has no address to show. */
function missingText(balancer: ShownBalancer): string {
  if (balancer.id !== undefined) return `the provider has not given its ${balancerText(balancer)} an address`
  return balancer.isRequested
    ? 'a request for its managed load balancer is under way'
    : 'its managed load balancer is not requested yet'
}
