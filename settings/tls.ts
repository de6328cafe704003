import { choice, list } from './formats.ts'
import type { SettingsTable } from './setting.ts'

/** OpenSSL's names of the TLS 1.2 cipher suites, by Go's names. All have forward secrecy and authentication. */
const openSslNames = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
} as const

type Suite = keyof typeof openSslNames

/** As in Go, the suites of TLS 1.3 cannot be configured. */
const always = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const

const suites = Object.keys(openSslNames) as Suite[]

/** The TLS versions and cipher suites of the ports. */
export const tlsSettings = {
  tlsMinVersion: {
    title: 'TLS minimum version',
    flag: '--tls-min-version',
    format: choice(['VersionTLS12', 'VersionTLS13']),
    default: 'VersionTLS12',
    sentence: 'Minimum TLS version on both ports.',
  },
  tlsCipherSuites: {
    title: 'TLS cipher suites',
    flag: '--tls-cipher-suites',
    format: list({ ...choice([...suites, ...always]), placeholder: 'suite' }),
    default: '',
    sentence:
      'Cipher suites of TLS 1.2 on both ports. An empty list means all that eip-admission supports, each with forward secrecy. Those of TLS 1.3 are always on.',
  },
} as const satisfies SettingsTable

export type TlsSettings = { tlsMinVersion: 'VersionTLS12' | 'VersionTLS13'; tlsCipherSuites: string[] }

/** The same settings in Node's terms. */
export function tlsOptions({ tlsMinVersion, tlsCipherSuites }: TlsSettings): {
  minVersion: 'TLSv1.2' | 'TLSv1.3'
  ciphers: string
} {
  const chosen = suites.filter((suite) => tlsCipherSuites.length === 0 || tlsCipherSuites.includes(suite))
  const names = [...always, ...chosen.map((suite) => openSslNames[suite])]
  return { minVersion: tlsMinVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2', ciphers: names.join(':') }
}
