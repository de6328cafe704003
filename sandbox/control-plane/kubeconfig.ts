export type User = { name: string; groups: string[]; token: string }

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
