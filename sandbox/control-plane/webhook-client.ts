import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A certificate and its key, both PEM. */
export type ClientPair = { cert: string; key: string }

const api = 'apiserver.config.k8s.io/v1'

/** Writes the files with which the API server presents a client certificate to webhooks, and returns the flag. */
export function webhookClientArgs(dir: string, pair: ClientPair): string[] {
  const write = (name: string, text: string) => {
    const file = join(dir, name)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  const user = {
    'client-certificate': write('webhook-client.crt', pair.cert),
    'client-key': write('webhook-client.key', pair.key),
  }
  const users = { apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] }
  const kubeConfigFile = write('webhook-client.kubeconfig', JSON.stringify(users))
  const configuration = { apiVersion: api, kind: 'WebhookAdmissionConfiguration', kubeConfigFile }
  const plugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({ name, configuration }))
  const admission = { apiVersion: api, kind: 'AdmissionConfiguration', plugins }
  return [`--admission-control-config-file=${write('admission.json', JSON.stringify(admission))}`]
}
