import { CloudError, type Exchange } from '../ports/cloud.ts'
import { vendorHttp } from '../http/client.ts'
import type { ProxyEnvironment } from '../http/send.ts'
import { fieldsOf, textOf } from '../http/loose-json.ts'

export type MetadataOptions = {
  url: string
  userAgent: string
  proxy?: ProxyEnvironment
  observe?: (exchange: Exchange) => void
}

/** The facility of the machine on which we run, from its metadata service; it needs no key and exists only there. */
export async function facilityOfHost({ url, ...tuning }: MetadataOptions, signal: AbortSignal): Promise<string> {
  const http = vendorHttp({
    ...tuning,
    vendor: 'The metadata service',
    baseUrl: url,
    headers: () => ({}),
    errorText: (body) => textOf(fieldsOf(body).error),
    // Elsewhere the connection is not refused but stays open.
    readTimeoutMs: 5_000,
  })
  const { body } = await http.call({ name: 'metadata', method: 'GET', path: ['metadata'] }, signal)
  const facility = textOf(fieldsOf(body).facility)
  if (facility !== undefined) return facility.toLowerCase()
  throw new CloudError('The metadata service names no facility', { fault: 'unavailable', outcome: 'nothing' })
}
