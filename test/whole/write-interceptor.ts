import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { TestStage } from './test-stage.ts'

export type Write = {
  operation: string
  resource: { resource: string }
  subResource?: string
  userInfo: { username: string }
  object: KubeObject | null
  oldObject: KubeObject | null
}

export type WriteInterceptor = {
  /** Runs `act` during the next write that matches; the write succeeds after it. */
  onNextWrite(matches: (write: Write) => boolean, act: () => void | Promise<void>): void
  /** Refuses the next write that matches, with this message. */
  refuseNextWrite(matches: (write: Write) => boolean, message: string): void
  /** Whether the last expected write has happened. */
  hasFired(): boolean
  close(): Promise<void>
}

const dayMs = 86_400_000

/** Installs a webhook for the test, which sees every write of a Service or an ElasticIP before it is stored. */
export async function interceptWrites(stage: Pick<TestStage, 'run' | 'kubectl'>): Promise<WriteInterceptor> {
  const now = Date.now()
  const authority = await issueAuthority({ commonName: 'write-interceptor', now, lifetimeMs: dayMs })
  const leaf = await issueLeaf({ authority, hosts: ['127.0.0.1'], now, lifetimeMs: dayMs })
  let expected: { matches: (write: Write) => boolean; act?: () => void | Promise<void>; message?: string } | undefined

  const server = createServer(leaf, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    const answer = async () => {
      const { request: write } = JSON.parse(body) as { request: Write & { uid: string } }
      const matched = expected?.matches(write) ? expected : undefined
      if (matched) expected = undefined
      await matched?.act?.()
      const { message } = matched ?? {}
      const verdict = message === undefined ? { allowed: true } : { allowed: false, status: { code: 403, message } }
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
      response.end(JSON.stringify({ ...review, response: { uid: write.uid, ...verdict } }))
    }
    request.on('end', () => void answer())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await stage.kubectl(['apply', '-f', '-'], configuration(`https://127.0.0.1:${port}/`, authority.cert))
  return {
    onNextWrite: (matches, act) => {
      expected = { matches, act }
    },
    refuseNextWrite(matches, message) {
      expected = { matches, message }
    },
    hasFired: () => expected === undefined,
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
    metadata: { name: 'write-interceptor' },
    webhooks: [
      {
        name: 'write-interceptor.example.com',
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
