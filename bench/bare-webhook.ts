// The least that a webhook can cost: node:https, one parse, one patch in base64. Prints its port and runs until it is stopped.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueAuthority, issueLeaf } from '../certs/authority.ts'
import type { AdmissionReview } from '../webhooks/webhook.ts'

const now = Date.now()
const lifetimeMs = 24 * 60 * 60 * 1000
const authority = await issueAuthority({ commonName: 'bench', now, lifetimeMs })
const pair = await issueLeaf({ authority, hosts: ['127.0.0.1'], now, lifetimeMs })

function answer({ request }: AdmissionReview): string {
  const change = { op: 'add', path: '/metadata/annotations/bench', value: request.object?.metadata.name }
  const patch = Buffer.from(JSON.stringify([change])).toString('base64')
  const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

const server = createServer(pair, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = answer(JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(JSON.stringify({ port }))
})
