import type { Cloud, MarkScheme, Reservation } from '../../clouds/ports/cloud.ts'
import type { IpAddress } from '../../lib/ip-address.ts'
import type { Log } from '../../kube/log.ts'
import type { ReadPossibleUsers } from './address-use.ts'
import type { ElasticIP } from './elastic-ip.ts'
import type { Records } from './records.ts'
import type { RequestsInFlight } from './requests-in-flight.ts'

export type LedgerDeps = {
  records: Records
  cloud: Omit<Cloud, 'locations'>
  scheme: MarkScheme
  /** The operator says that no other cluster uses the project, so we may adopt and delete reservations that name no cluster. */
  sweepsUntagged: boolean
  requestsInFlight: RequestsInFlight
  possibleUsers: ReadPossibleUsers
  /** Why a record gets no address from a reservation, although the provider grants it. */
  grantedProblem: (
    record: ElasticIP,
    reservation: Pick<Reservation, 'id' | 'address'>,
    signal: AbortSignal,
  ) => Promise<string | undefined>
  /** The network of this cluster that contains an address, for a message. */
  clusterNetwork: (address: IpAddress) => string | undefined
  /** The name of this process, unique among all processes. */
  identity: string
  now: () => Date
  log: Log
}
