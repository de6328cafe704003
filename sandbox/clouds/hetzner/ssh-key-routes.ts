import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { objectOf } from '../request-body.ts'
import { invalidInput, refusedFor } from './errors.ts'
import { readLabels } from './labels.ts'
import { time } from './render.ts'
import { type RouteContext, findIn, page } from './route-context.ts'
import type { SshKey, State } from './state.ts'

/** Registers the routes of SSH keys: Terraform configurations rarely order a server without one. */
export function sshKeyRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, projectOf } = context

  app.get('/ssh_keys', (request) =>
    page(context, request, { field: 'ssh_keys', items: state.sshKeys.values(), render }),
  )
  app.get('/ssh_keys/:id', (request) => ({ ssh_key: render(findIn(context, request, state.sshKeys)) }))
  app.post('/ssh_keys', (request, reply) => {
    const key = createKey(state, projectOf(request), objectOf(request.body))
    return reply.code(201).send({ ssh_key: render(key) })
  })
  app.put('/ssh_keys/:id', (request) => {
    const key = findIn(context, request, state.sshKeys)
    const { name, labels } = objectOf(request.body)
    if (typeof name === 'string' && name !== '') key.name = name
    if (labels !== undefined) key.labels = readLabels(labels)
    return { ssh_key: render(key) }
  })
  app.delete('/ssh_keys/:id', (request, reply) => {
    state.sshKeys.delete(findIn(context, request, state.sshKeys).id)
    return reply.code(204).send()
  })
}

function createKey(state: State, project: number, body: Record<string, unknown>): SshKey {
  const { name, public_key: publicKey, labels } = body
  if (typeof name !== 'string' || name === '') throw invalidInput('name', 'is missing')
  const [, blob] = typeof publicKey === 'string' ? publicKey.split(' ') : []
  if (typeof publicKey !== 'string' || blob === undefined) throw invalidInput('public_key', 'is no public key')
  const digest = createHash('md5').update(Buffer.from(blob, 'base64')).digest('hex')
  const fingerprint = digest.match(/../g)?.join(':') ?? ''
  const isTaken = [...state.sshKeys.values()].some((one) => one.project === project && one.fingerprint === fingerprint)
  if (isTaken)
    throw refusedFor(409, 'uniqueness_error', {
      message: 'SSH key with the same fingerprint already exists',
      details: { fields: [{ name: 'public_key' }] },
    })
  const id = state.newId()
  const key = { id, project, name, fingerprint, publicKey, labels: readLabels(labels), createdAtMs: state.now() }
  state.sshKeys.set(id, key)
  return key
}

function render({ id, name, fingerprint, publicKey, labels, createdAtMs }: SshKey) {
  return { id, name, fingerprint, public_key: publicKey, labels, created: time(createdAtMs) }
}
