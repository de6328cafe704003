import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Json } from '../control.ts'
import { objectOf, textOf } from '../request-body.ts'
import type { Access } from './access.ts'
import { notFound, unprocessable } from './errors.ts'
import { href } from './hrefs.ts'
import { pageOf } from './paging.ts'
import { userId } from './render.ts'
import { listOfText } from './request-body.ts'
import { type RouteContext, inListOrder } from './route-context.ts'
import { type Organization, type Project, type SshKey, type State, newId } from './state.ts'

/** Serves the user, the organizations and the SSH keys of the user and of projects. */
export function accountRoutes(app: FastifyInstance, metal: RouteContext, access: Access): void {
  const showUser = () => renderUser(metal.state)
  app.get('/user', showUser)
  app.get('/users/:id', (request) => {
    if ((request.params as { id: string }).id !== userId) throw notFound()
    return showUser()
  })
  organizationRoutes(app, metal, access)
  sshKeyLists(app, metal, access)
  singleSshKeys(app, metal, access)
}

function renderUser(state: State): Json {
  const [organization] = state.organizations.values()
  return {
    id: userId,
    short_id: userId.slice(0, 8),
    first_name: 'Sandbox',
    last_name: 'User',
    full_name: 'Sandbox User',
    email: 'sandbox@example.com',
    customdata: {},
    default_organization_id: organization?.id,
    timezone: 'UTC',
    created_at: organization?.createdAt,
    ...href('users', userId),
  }
}

function organizationRoutes(app: FastifyInstance, { state, faultOf }: RouteContext, access: Access): void {
  const render = (one: Organization) => renderOrganization(state, one)
  app.get('/organizations', (request) => {
    const all = inListOrder(state, [...state.organizations.values()])
    const { items, meta } = pageOf(all, { request, perPage: 10, fault: faultOf(request) })
    return { organizations: items.map(render), meta }
  })
  app.post('/organizations', (request, reply) => {
    access.checkWrite(request)
    const { name = '', description = '', website = '' } = readOrganization(request.body)
    if (name === '') throw unprocessable("Name can't be blank")
    const organization = { id: newId(), name, description, website, createdAt: state.timestamp() }
    state.organizations.set(organization.id, organization)
    return reply.code(201).send(render(organization))
  })
  app.get('/organizations/:id', (request) => render(findOrganization(state, request)))
  // The specification has PUT; a widely used client sends PATCH.
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/organizations/:id',
    handler(request) {
      access.checkWrite(request)
      return render(Object.assign(findOrganization(state, request), readOrganization(request.body)))
    },
  })
  app.delete('/organizations/:id', (request, reply) => {
    access.checkWrite(request)
    const organization = findOrganization(state, request)
    if (projectsOf(state, organization).length > 0) throw unprocessable('Cannot delete an organization with projects')
    state.organizations.delete(organization.id)
    return reply.code(204).send()
  })
}

/** Finds the organization in the path of a request; throws 404 if there is none. */
export function findOrganization({ organizations }: State, request: FastifyRequest): Organization {
  const organization = organizations.get((request.params as { id: string }).id)
  if (!organization) throw notFound()
  return organization
}

function projectsOf({ projects }: State, organization: Organization): Project[] {
  return [...projects.values()].filter((project) => project.organization === organization)
}

function renderOrganization(state: State, organization: Organization): Json {
  const { id, name, description, website, createdAt } = organization
  const projects = projectsOf(state, organization).map((project) => href('projects', project.id))
  const members = [href('users', userId)]
  const times = { created_at: createdAt, updated_at: createdAt }
  return { id, name, description, website, projects, members, customdata: {}, ...times, ...href('organizations', id) }
}

function readOrganization(sent: unknown): Partial<Pick<Organization, 'name' | 'description' | 'website'>> {
  const body = objectOf(sent)
  const names = ['name', 'description', 'website']
  return Object.fromEntries(names.flatMap((name) => (textOf(body[name]) ? [[name, textOf(body[name])]] : [])))
}

function sshKeyLists(app: FastifyInstance, { state, find }: RouteContext, access: Access): void {
  const list = (keys: SshKey[]) => ({ ssh_keys: inListOrder(state, keys).map(renderSshKey) })
  const keysOf = (project: Project | undefined) => [...state.sshKeys.values()].filter((key) => key.project === project)
  const add = (request: FastifyRequest, reply: FastifyReply, project?: Project) => {
    access.checkWrite(request)
    const { label, key, tags = [] } = readKey(request.body)
    if (label === undefined || key === undefined) throw unprocessable("Label and key can't be blank")
    const times = { createdAt: state.timestamp(), updatedAt: state.timestamp() }
    const sshKey: SshKey = { id: newId(), ...(project && { project }), label, key, tags, ...times }
    state.sshKeys.set(sshKey.id, sshKey)
    return reply.code(201).send(renderSshKey(sshKey))
  }

  app.get('/ssh-keys', () => list(keysOf(undefined)))
  app.post('/ssh-keys', (request, reply) => add(request, reply))
  app.get('/projects/:id/ssh-keys', (request) => list(keysOf(find.project(request))))
  app.post('/projects/:id/ssh-keys', (request, reply) => add(request, reply, find.project(request)))
  app.get('/devices/:id/ssh-keys', (request) => list(find.device(request).sshKeys))
}

function singleSshKeys(app: FastifyInstance, { state, find }: RouteContext, access: Access): void {
  app.get('/ssh-keys/:id', (request) => renderSshKey(find.sshKey(request)))
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/ssh-keys/:id',
    handler(request) {
      access.checkWrite(request)
      const sshKey = find.sshKey(request)
      return renderSshKey(Object.assign(sshKey, readKey(request.body), { updatedAt: state.timestamp() }))
    },
  })
  app.delete('/ssh-keys/:id', (request, reply) => {
    access.checkWrite(request)
    state.sshKeys.delete(find.sshKey(request).id)
    return reply.code(204).send()
  })
}

function readKey(sent: unknown): { label?: string; key?: string; tags?: string[] } {
  const { label, key, tags } = objectOf(sent)
  if (textOf(key) && !/^[a-z][\w@.-]* [\w+/]+=*(\s|$)/.test(textOf(key))) throw unprocessable('Key is invalid')
  return {
    ...(textOf(label) && { label: textOf(label) }),
    ...(textOf(key) && { key: textOf(key) }),
    ...(tags !== undefined && { tags: listOfText(tags, 'tags') }),
  }
}

function renderSshKey({ id, project, label, key, tags, createdAt, updatedAt }: SshKey): Json {
  const [, blob = ''] = key.split(' ')
  const digest = createHash('md5').update(Buffer.from(blob, 'base64')).digest('hex')
  return {
    id,
    label,
    key,
    fingerprint: digest.replace(/..(?=.)/g, '$&:'),
    tags,
    entity: project ? href('projects', project.id) : href('users', userId),
    created_at: createdAt,
    updated_at: updatedAt,
    ...href('ssh-keys', id),
  }
}
