import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type User = { name: string; groups: string[]; token: string }

/** Writes the file that tells an API server its users. */
export function writeUsers(dir: string, users: User[]): void {
  const rows = users.map(({ token, name, groups }) => `${token},${name},${name},"${groups.join(',')}"\n`)
  writeFileSync(join(dir, 'tokens.csv'), rows.join(''), { mode: 0o600 })
}

/** Reads that file. */
export function readUsers(dir: string): User[] {
  const rows = readFileSync(join(dir, 'tokens.csv'), 'utf8').trimEnd().split('\n')
  return rows.map((row) => {
    const [token = '', name = '', , ...groups] = row.replaceAll('"', '').split(',')
    return { token, name, groups }
  })
}

/** Returns a function that writes a user's kubeconfig and returns its path. The API server's files are in `dir`. */
export function kubeconfigWriter(dir: string, url: string): (name: string) => string {
  // The API server made this file when it started; its last certificate is the authority that signed the first.
  const pem = readFileSync(join(dir, 'certs', 'apiserver.crt'), 'utf8')
  const authority = `${pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----')).trim()}\n`
  return (name) => {
    const user = readUsers(dir).find((candidate) => candidate.name === name)
    if (!user) throw new Error(`the control plane has no user ${name}: add it to "users"`)
    const file = join(dir, `${name.replaceAll(/[^a-z0-9-]+/gi, '-')}.kubeconfig`)
    // A process that already runs with this file must never read half of it.
    writeFileSync(`${file}.new`, kubeconfig({ url, authority, user }), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return file
  }
}

/** Returns the text of a kubeconfig for one user of one API server, as JSON, which is valid YAML. */
export function kubeconfig(of: { url: string; authority: string; user: User }): string {
  const cluster = {
    server: of.url,
    'certificate-authority-data': Buffer.from(of.authority).toString('base64'),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster }],
    users: [{ name: of.user.name, user: { token: of.user.token } }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: of.user.name } }],
    'current-context': 'sandbox',
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
