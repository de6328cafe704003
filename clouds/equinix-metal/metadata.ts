import { CloudError } from '../cloud.ts'
import { type Exchange, vendorHttp } from '../http.ts'
import { fieldsOf, textOf } from '../loose-json.ts'

export type MetadataOptions = { url: string; userAgent: string; observe?: (exchange: Exchange) => void }

/** The facility of the machine that asks, as its metadata service says; it needs no key, and answers on machines only. */
export async function facilityOfHost({ url, ...tuning }: MetadataOptions, signal: AbortSignal): Promise<string> {
  const http = vendorHttp({
    ...tuning,
    vendor: 'The metadata service',
    baseUrl: url,
    headers: () => ({}),
    errorText: (body) => textOf(fieldsOf(body).error),
    // Where there is no such service nobody refuses the connection.
    readTimeoutMs: 5_000,
  })
  const { body } = await http.call({ name: 'metadata', method: 'GET', path: ['metadata'] }, signal)
  const facility = textOf(fieldsOf(body).facility)
  if (facility !== undefined) return facility.toLowerCase()
  throw new CloudError('The metadata service names no facility', { fault: 'unavailable', outcome: 'nothing' })
}
