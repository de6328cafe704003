import type { KubeClient } from '../kube/client.ts'
import { connect } from '../kube/connect.ts'
import type { Credentials } from '../kube/credentials.ts'
import type { Cloud } from '../clouds/ports/cloud.ts'
import type { CloudProvider } from '../clouds/ports/cloud-provider.ts'
import { type ProbeResult, probeOnce } from '../webhooks/webhook-probe.ts'

/** The part of the API server's client that changes nothing. */
export type Reader = Pick<KubeClient, 'get' | 'list'>

export type ClusterReader = Reader & {
  /** Checks with a dry run whether the API server calls the webhooks. */
  probe(namespace: string): Promise<ProbeResult>
}

/** The parts of a vendor's client that change nothing. */
export type CloudReader = {
  cloud: Pick<Cloud, 'name' | 'reservations' | 'locations'>
  machines: Pick<CloudProvider['machines'], 'machines'>
  peering: Pick<NonNullable<CloudProvider['peering']>, 'project' | 'sessions' | 'peers'> | undefined
  assignments: Pick<NonNullable<CloudProvider['assignments']>, 'assignedAddresses'> | undefined
}

/** A client of the API server that has no method to write. */
export function readerOf(client: KubeClient): Reader {
  return {
    get: (resource, at, options) => client.get(resource, at, options),
    list: (resource, options) => client.list(resource, options),
  }
}

/** A client of the API server for reads, and for the probe. */
export function clusterReader(credentials: Credentials, userAgent: string): ClusterReader {
  const client = connect(credentials, { userAgent })
  return {
    ...readerOf(client),
    probe: (namespace) => probeOnce({ client, namespace }, new AbortController().signal),
  }
}
