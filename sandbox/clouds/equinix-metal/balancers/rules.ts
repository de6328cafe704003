import { isIPv4 } from 'node:net'
import { unprocessable } from '../errors.ts'
import { textOf } from '../../request-body.ts'
import type { BalancerState, LoadBalancer } from './state.ts'
import { portsOf } from './state.ts'

/** Reads a name. The service has refused long names and these characters since August 2024. */
export function readName({ settings: { maxName } }: BalancerState, sent: unknown): string {
  const name = textOf(sent)
  if (name === '') throw unprocessable('must not be empty')
  if (name.length > maxName) throw unprocessable(`must not be longer than ${maxName} characters`)
  if (/[<>&'"]/.test(name)) throw unprocessable(`must not contain the following characters: <>&'"`)
  return name
}

/** Reads the number of a port of a load balancer, which no other port of it may have. */
export function readPortNumber(state: BalancerState, balancer: LoadBalancer, sent: unknown): number {
  const number = readNumber(sent)
  if (state.settings.restrictedPorts.includes(number)) throw unprocessable('port number restricted')
  if (portsOf(state, balancer).some((port) => port.number === number)) throw unprocessable('port number already in use')
  return number
}

/** Reads a port number. */
export function readNumber(sent: unknown): number {
  if (Number.isInteger(sent) && Number(sent) >= 1 && Number(sent) <= 65_535) return Number(sent)
  throw unprocessable('port number must be between 1 and 65535')
}

/** Reads the target of an origin: only IPv4. */
export function readTarget(sent: unknown): string {
  const target = textOf(sent)
  if (!isIPv4(target)) throw unprocessable('invalid ip address')
  return target
}

/** Reads the protocol of a pool. */
export function readProtocol(sent: unknown): 'tcp' | 'udp' {
  if (sent === 'tcp' || sent === 'udp') return sent
  throw unprocessable('protocol must be tcp or udp')
}

/** Reads ids of objects that have to exist; an absent list is empty. */
export function readIds<T>(sent: unknown, known: Map<string, T>, what: 'pools' | 'ports' | 'origins'): T[] {
  if (sent === undefined || sent === null) return []
  if (!Array.isArray(sent)) throw unprocessable(`one or more ${what} not found`)
  return sent.map((id) => {
    const found = known.get(String(id))
    if (!found) throw unprocessable(`one or more ${what} not found`)
    return found
  })
}
