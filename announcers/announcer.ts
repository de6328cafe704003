import type { Service } from '../kube/objects.ts'

/** What a Service carries so that its address is announced; absent fields are not ours to write. */
export type AnnouncementRequest = {
  annotations: Record<string, string>
  status?: NonNullable<Service['status']>
}

/** How the network learns an address. Pure: an address in, wanted fields out; who carries them out is elsewhere. */
export type Announcer = {
  readonly name: string
  request(address: string): AnnouncementRequest
}
