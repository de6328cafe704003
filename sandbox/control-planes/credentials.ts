import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { type User, kubeconfig } from '../control-plane/kubeconfig.ts'
import { type Member, ports } from './args.ts'

const dayMs = 24 * 3_600_000

/** The cluster's users with their tokens. */
export type Credentials = {
  tokenOf: (user: string) => string
  /** Writes the kubeconfig with which a user calls the API server at an address, and returns its path. */
  kubeconfigFor: (user: string, at: { dir: string; address: string }) => string
}

/** The name of a cluster administrator. */
export const administrator = 'admin'

/** An authority that issues serving certificates; its own certificate is in `ca.crt` of the folder. */
export type Authority = {
  cert: string
  issue(hosts: string[]): Promise<{ cert: string; key: string }>
}

/** Makes the authority of the rig: of its API servers, and of its cloud. */
export async function makeAuthority(dir: string): Promise<Authority> {
  mkdirSync(dir, { recursive: true })
  const issued = { now: Date.now(), lifetimeMs: dayMs }
  const authority = await issueAuthority({ commonName: 'rig', ...issued })
  write(join(dir, 'ca.crt'), authority.cert)
  return { cert: authority.cert, issue: (hosts) => issueLeaf({ authority, hosts, ...issued }) }
}

export type CredentialOptions = {
  dir: string
  authority: Authority
  members: Member[]
  /** The names in every serving certificate besides the machine's own address. */
  sharedHosts: string[]
  /** Users besides the administrator, with their groups. */
  users: Record<string, string[]>
}

/** Writes the files of every API server: its certificate, and the tokens and keys that they share. */
export async function writeCredentials(options: CredentialOptions): Promise<Credentials> {
  const { dir, authority, members, sharedHosts, users } = options
  for (const { dir: own, address } of members) {
    mkdirSync(own, { recursive: true })
    const leaf = await authority.issue([address, ...sharedHosts])
    write(join(own, 'api-server.crt'), leaf.cert)
    write(join(own, 'api-server.key'), leaf.key)
  }
  const all = Object.entries({ ...users, [administrator]: ['system:masters'] }).map(([name, groups]): User => {
    return { name, groups, token: randomBytes(24).toString('base64url') }
  })
  const rows = all.map(({ token, name, groups }) => `${token},${name},${name},"${groups.join(',')}"\n`)
  write(join(dir, 'tokens.csv'), rows.join(''))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  write(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
  const userOf = (name: string) => {
    const user = all.find((one) => one.name === name)
    if (!user) throw new Error(`the cluster has no user ${name}`)
    return user
  }
  return {
    tokenOf: (name) => userOf(name).token,
    kubeconfigFor(name, at) {
      const file = join(at.dir, `${name.replaceAll(/[^a-z0-9-]+/gi, '-')}.kubeconfig`)
      const url = `https://${at.address}:${ports.api}`
      write(file, kubeconfig({ url, authority: authority.cert, user: userOf(name) }))
      return file
    },
  }
}

function write(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
}
