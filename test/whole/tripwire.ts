import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { World } from './world.ts'

export type Write = {
  operation: string
  resource: { resource: string }
  subResource?: string
  userInfo: { username: string }
  object: KubeObject | null
  oldObject: KubeObject | null
}

export type Tripwire = {
  /** Runs `act` at the next write that matches, which goes through, whatever becomes of its author. */
  arm(matches: (write: Write) => boolean, act: () => void): void
  /** Refuses the next write that matches, in these words. */
  refuse(matches: (write: Write) => boolean, words: string): void
  /** Whether what was armed last has happened. */
  sprung(): boolean
  close(): Promise<void>
}

const dayMs = 86_400_000

/** A webhook of the test's own, which sees every write of Services and ElasticIPs on its way into the store, and may refuse it. */
export async function stretchTripwire(world: Pick<World, 'must' | 'kubectl'>): Promise<Tripwire> {
  const now = Date.now()
  const authority = await issueAuthority({ commonName: 'tripwire', now, lifetimeMs: dayMs })
  const leaf = await issueLeaf({ authority, hosts: ['127.0.0.1'], now, lifetimeMs: dayMs })
  let armed: { matches: (write: Write) => boolean; act?: () => void; words?: string } | undefined

  const server = createServer(leaf, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { request: write } = JSON.parse(body) as { request: Write & { uid: string } }
      const sprung = armed?.matches(write) ? armed : undefined
      if (sprung) armed = undefined
      sprung?.act?.()
      const { words } = sprung ?? {}
      const verdict =
        words === undefined ? { allowed: true } : { allowed: false, status: { code: 403, message: words } }
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
      response.end(JSON.stringify({ ...review, response: { uid: write.uid, ...verdict } }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await world.kubectl(['apply', '-f', '-'], configuration(`https://127.0.0.1:${port}/`, authority.cert))
  return {
    arm: (matches, act) => {
      armed = { matches, act }
    },
    refuse(matches, words) {
      armed = { matches, words }
    },
    sprung: () => armed === undefined,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function configuration(url: string, authority: string): object {
  const rule = (apiGroups: string[], resources: string[]) => ({
    apiGroups,
    resources,
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  })
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'tripwire' },
    webhooks: [
      {
        name: 'tripwire.example.com',
        clientConfig: { url, caBundle: Buffer.from(authority).toString('base64') },
        rules: [
          rule(['eip-admission.dev'], ['elasticips', 'elasticips/status']),
          rule([''], ['services', 'services/status']),
        ],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
      },
    ],
  }
}
