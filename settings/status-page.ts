import { isIP } from 'node:net'
import { canonicalIpAddress } from '../lib/ip-address.ts'
import { readToken, leastLength } from './token-file.ts'
import { text } from './formats.ts'
import type { Problem } from './problems.ts'
import { readSettings, type Sources } from './resolve.ts'
import { type Format, type SettingsTable, titleOf } from './setting.ts'

/** A loopback address and a port, where the page speaks plain HTTP. */
const loopback: Format<{ host: string; port: number }> = {
  placeholder: 'address',
  read: (given) => {
    const [, v6, v4, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(given) ?? []
    const host = v6 ?? v4 ?? ''
    const port = Number(digits)
    const isRight = isLoopback(host) && port >= 1 && port <= 65_535
    return isRight ? { value: { host, port } } : { right: 'a loopback address and a port, such as 127.0.0.1:10261' }
  },
}

function isLoopback(host: string): boolean {
  return isIP(host) === 4 ? host.startsWith('127.') : canonicalIpAddress(host) === '::1'
}

/** The settings for where, and to whom, the status page is shown. */
export const statusPageSettings = {
  statusPageAddress: {
    flag: '--status-page-address',
    env: 'EIP_STATUS_PAGE_ADDRESS',
    format: loopback,
    unset: 'no page on a loopback address',
    sentence:
      'Loopback address and port, such as `127.0.0.1:10261`, where the status page is shown over plain HTTP. In a pod, only people who may forward its ports reach it. On the host network, every user of the host can reach it, so set a token there.',
  },
  statusPageTokenFile: {
    flag: '--status-page-token-file',
    env: 'EIP_STATUS_PAGE_TOKEN_FILE',
    format: text('file'),
    unset: 'no page on the health port, and none is needed on the loopback address',
    sentence: `File with the token of the status page, at least ${leastLength} characters. With it the page is also at /status of the health port if that port uses TLS. Callers send the token as a bearer token, and browsers as the password of any user. A changed file is read within seconds.`,
  },
} as const satisfies SettingsTable

/** Problems of the token file. */
export function statusPageProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const path = readSettings(statusPageSettings, sources).values?.statusPageTokenFile
  if (path === undefined) return []
  const { wrong } = readToken(path)
  if (wrong === undefined) return []
  const right = `it must be a readable file with one token of at least ${leastLength} characters`
  return [{ setting: titleOf(statusPageSettings.statusPageTokenFile), source: path, wrong, right }]
}
