import { createHash } from 'node:crypto'
import type { Json } from '../control.ts'
import { timestamp } from './render.ts'
import type { SshKey, Team } from './state.ts'

/** The owner of every token; the vendor sends every field, even if it is empty. */
export const user: Json = {
  id: 123_456,
  first_name: '',
  last_name: '',
  email: 'sandbox@example.com',
  email_verified: false,
  phone: '',
  security_phone_verified: false,
  state: '',
  city: '',
  country_iso_2: 'LT',
  href: '/users/123456',
  security_phone: '',
  skype_username: '',
  linkedin_profile: '',
  address_1: '',
  address_2: '',
  date_of_birth: '',
  national_id_number: '',
  created: '2025-11-01T15:53:22+00:00',
}

/** Renders an SSH key with its owner. */
export function renderSshKey(sshKey: SshKey): Json {
  const { created: _, ...owner } = user
  const { updated, created, href, ...key } = renderKeyAlone(sshKey)
  return { ...key, user: { ...owner, ssh_keys: [renderKeyAlone(sshKey)] }, updated, created, href }
}

function renderKeyAlone({ id, label, key, createdAtMs, updatedAtMs }: SshKey): Json {
  return {
    id,
    label,
    key,
    fingerprint: fingerprintOf(key),
    updated: timestamp(updatedAtMs),
    created: timestamp(createdAtMs),
    href: `/ssh-keys/${id}`,
  }
}

function fingerprintOf(key: string): string {
  const [, blob = ''] = key.split(' ')
  const hex = createHash('md5').update(Buffer.from(blob, 'base64')).digest('hex')
  return hex.replace(/..(?=.)/g, '$&:')
}

/** Renders a team with its credit and billing. */
export function renderTeam({ id, name, type, currency }: Team): Json {
  const unit = 'Hourly'
  return {
    id,
    name,
    credit: {
      account: { currency },
      promo: { currency },
      resources: { pricing: { taxed: true, currency, unit }, remaining: { unit } },
    },
    billing: { type, country_iso_2: 'LT', vat: { amount: 21, valid: false }, currency },
    href: `/teams/${id}`,
  }
}
