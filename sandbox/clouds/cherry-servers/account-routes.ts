import type { FastifyInstance, FastifyRequest } from 'fastify'
import { objectOf, textOf } from '../request-body.ts'
import { renderSshKey, renderTeam, user } from './accounts.ts'
import { badRequest, notFound } from './errors.ts'
import { selectFields } from './fields.ts'
import { type RouteContext, inListOrder, pageOf } from './route-context.ts'
import type { SshKey, State, Team } from './state.ts'

/** Serves the user, the SSH keys, which belong to the user, and the teams. */
export function accountRoutes(app: FastifyInstance, cherry: RouteContext): void {
  app.get('/user', (request) => selectFields(request, 'user', user))
  app.get('/users/:id', (request) => {
    if (idIn(request) !== user['id']) throw notFound()
    return selectFields(request, 'user', user)
  })
  sshKeyLists(app, cherry)
  sshKeyRoutes(app, cherry)
  teamRoutes(app, cherry)
}

function sshKeyLists(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  const show = (request: FastifyRequest, keys: SshKey[]) =>
    inListOrder(state, keys).map((key) => selectFields(request, 'ssh_key', renderSshKey(key)))
  const keysWith = (ids: number[]) => [...state.sshKeys.values()].filter(({ id }) => ids.includes(id))

  app.get('/ssh-keys', (request, reply) =>
    pageOf(state, show(request, [...state.sshKeys.values()]), { request, reply, fault: faultOf(request) }),
  )
  app.get('/servers/:id/ssh-keys', (request, reply) =>
    pageOf(state, show(request, keysWith(find.server(request).sshKeys)), { request, reply, fault: faultOf(request) }),
  )
  app.get('/projects/:id/ssh-keys', (request, reply) => {
    const project = find.project(request)
    const servers = [...state.servers.values()].filter((server) => server.project === project)
    const keys = keysWith(servers.flatMap(({ sshKeys }) => sshKeys))
    return pageOf(state, show(request, keys), { request, reply, fault: faultOf(request) })
  })
}

function sshKeyRoutes(app: FastifyInstance, { state }: RouteContext): void {
  const findKey = (request: FastifyRequest): SshKey => {
    const key = state.sshKeys.get(idIn(request))
    if (!key) throw notFound()
    return key
  }

  app.post('/ssh-keys', (request, reply) => {
    const { label, key } = readKey(request.body)
    if (label === undefined || key === undefined) throw badRequest('label and key are required.')
    const times = { createdAtMs: state.now(), updatedAtMs: state.now() }
    const sshKey: SshKey = { id: state.newSshKeyId(), label, key, ...times }
    state.sshKeys.set(sshKey.id, sshKey)
    return reply.code(201).send(selectFields(request, 'ssh_key', renderSshKey(sshKey)))
  })
  app.get('/ssh-keys/:id', (request) => selectFields(request, 'ssh_key', renderSshKey(findKey(request))))
  app.put('/ssh-keys/:id', (request, reply) => {
    const sshKey = findKey(request)
    Object.assign(sshKey, readKey(request.body), { updatedAtMs: state.now() })
    return reply.code(201).send(selectFields(request, 'ssh_key', renderSshKey(sshKey)))
  })
  app.delete('/ssh-keys/:id', (request, reply) => {
    state.sshKeys.delete(findKey(request).id)
    return reply.code(204).send()
  })
}

function teamRoutes(app: FastifyInstance, { state, faultOf }: RouteContext): void {
  app.get('/teams', (request, reply) => {
    const page = pageOf(state, inListOrder(state, [...state.teams.values()]), {
      request,
      reply,
      fault: faultOf(request),
    })
    return page.map((team) => selectFields(request, 'team', renderTeam(team)))
  })
  app.post('/teams', (request, reply) => {
    const { name, type = 'personal', currency = 'EUR' } = readTeam(request.body)
    if (name === undefined) throw badRequest('name is required.')
    const team: Team = { id: state.newTeamId(), name, type, currency }
    state.teams.set(team.id, team)
    return reply.code(201).send(renderTeam(team))
  })
  app.get('/teams/:id', (request) => selectFields(request, 'team', renderTeam(findTeam(state, request))))
  app.put('/teams/:id', (request, reply) => {
    const team = Object.assign(findTeam(state, request), readTeam(request.body))
    return reply.code(201).send(renderTeam(team))
  })
  app.delete('/teams/:id', (request, reply) => {
    const team = findTeam(state, request)
    if ([...state.projects.values()].some((project) => project.team === team))
      throw badRequest('A team with projects cannot be deleted.')
    state.teams.delete(team.id)
    return reply.code(204).send()
  })
}

/** Finds the team in the path of a request; throws 404 if there is none. */
export function findTeam({ teams }: State, request: FastifyRequest): Team {
  const team = teams.get(idIn(request))
  if (!team) throw notFound()
  return team
}

const idIn = (request: FastifyRequest) => Number((request.params as { id: string }).id)

function readTeam(sent: unknown): Partial<Omit<Team, 'id'>> {
  return texts(sent, ['name', 'type', 'currency'])
}

function readKey(sent: unknown): { label?: string; key?: string } {
  const given: { label?: string; key?: string } = texts(sent, ['label', 'key'])
  if (given.key !== undefined && !/^[a-z][\w@.-]* [\w+/]+=*( |$)/.test(given.key))
    throw badRequest('Given SSH key is not valid.')
  return given
}

/** Returns the fields of these names that are texts; an empty one was not given. */
function texts(sent: unknown, names: string[]): Record<string, string> {
  const body = objectOf(sent)
  return Object.fromEntries(names.flatMap((name) => (textOf(body[name]) ? [[name, textOf(body[name])]] : [])))
}
