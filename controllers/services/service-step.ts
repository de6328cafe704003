import type { SecondWant } from '../../ledger/want/families.ts'
import type { AnnouncementRequest } from '../../announcers/announcer.ts'
import type { Key } from '../../kube/objects.ts'
import type { ClaimSpec } from '../../ledger/claim/claim-spec.ts'
import type { ElasticIP, ReclaimPolicy } from '../../ledger/record/elastic-ip.ts'
import type { Plan } from '../loop/reconciler.ts'
import type { ConditionFacts } from './service-condition.ts'

/** Removes our finalizer and the upstream one; `only` ours if the other belongs to another controller. */
export type RemoveFinalizers = { do: 'remove-finalizers'; only?: 'ours' }

/** A change to the cluster or at the provider. Each is safe to repeat, and none relies on the success of another. */
export type ServiceStep =
  | { do: 'add-finalizer' }
  /** `second`: for the second address. */
  | ({ do: 'claim'; second?: SecondWant } & ClaimSpec)
  | { do: 'show-address'; address: string }
  /** Removes our address; `address` if our annotation does not name it. */
  | { do: 'hide-address'; address?: string }
  | { do: 'bind'; record: ElasticIP; uid: string }
  /** Asks the provider for the address of a record that has another record's address. */
  | { do: 'correct-record'; record: ElasticIP; rival: ElasticIP }
  | { do: 'set-reclaim-policy'; record: ElasticIP; reclaim: ReclaimPolicy }
  /** Adds our finalizer to a record, after `cleanup` removed it. */
  | { do: 'hold-record'; record: ElasticIP }
  /** Writes the status of a record for its newest spec. */
  | { do: 'observe-record'; record: ElasticIP }
  | { do: 'note-protection'; record: ElasticIP; isProtected: boolean }
  /**
   * `condition`: ours, if this status makes it true and it is not written yet. `isShared`: the plan of the second
   * address may write the status at the same time.
   */
  | { do: 'announce'; request: AnnouncementRequest; condition?: ConditionFacts; isShared?: true }
  /** Gives up the management of fields that people write too, so that their server-side apply has no conflict. */
  | { do: 'yield-fields' }
  /** Restores a Service under deletion, so that the announcing software withdraws its address when it is deleted. */
  | { do: 'restore-service'; change: object }
  /** Has the announcing software withdraw the address. */
  | { do: 'withdraw' }
  /**
   * Removes the address from the status ourselves; `isOverdue` if the announcing software should have done so. The `kept`
   * addresses stay.
   */
  | { do: 'clear-status'; isOverdue: boolean; kept?: string[] }
  /** Removes addresses from a status that only we write. */
  | { do: 'hide-in-status'; addresses: string[] }
  /** Only the announcing software may clear the status, and it has not. */
  | { do: 'report-withdrawal' }
  /** `isAnnounced`: other Services still have the address announced, so only the record may be removed. */
  | { do: 'release'; record: ElasticIP; isAnnounced?: true }
  /** Keeps the reservation until the Service is deleted, because its address is announced until then. */
  | { do: 'postpone-release'; record: ElasticIP }
  | { do: 'retain'; record: ElasticIP }
  | RemoveFinalizers
  /** Writes the records of a deleted Service again, or lets it go if the provider has no address for it. */
  | { do: 'recover-records'; address: string; otherwise: RemoveFinalizers }
  | { do: 'report-problems'; problems: string[] }
  /** The network may still learn the address for a while, so nothing is released yet. */
  | { do: 'report-wait'; reason: string; againInMs: number }
  /** The address cannot be released while these Services show it. */
  | { do: 'report-shared'; address: string; services: Key[] }

export type ServicePlan = Plan<ServiceStep>

export const settled: ServicePlan = {}
