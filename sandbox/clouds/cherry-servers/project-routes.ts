import type { FastifyInstance, FastifyRequest } from 'fastify'
import { objectOf } from '../request-body.ts'
import type { Access } from './access.ts'
import { type RouteContext, inListOrder, pageOf } from './route-context.ts'
import { badRequest, notFound } from './errors.ts'
import { selectFields } from './fields.ts'
import { deleteIp } from './ips.ts'
import { renderProject, renderProjectWithTraffic } from './render.ts'
import { readBgp } from './server-body.ts'
import { type Project, type State, floatingIn } from './state.ts'

/** Serves the team and its projects. */
export function projectRoutes(app: FastifyInstance, cherry: RouteContext, access: Access): void {
  teamProjects(app, cherry, access)
  singleProjects(app, cherry)
}

function teamProjects(app: FastifyInstance, { state, faultOf }: RouteContext, access: Access): void {
  const team = () => ({ ...state.team, href: `/teams/${state.team.id}` })

  app.get('/teams', (request, reply) => pageOf([team()], { request, reply, fault: faultOf(request) }))

  app.get('/teams/:id', (request) => {
    checkTeam(state, request)
    return team()
  })

  app.get('/teams/:id/projects', (request, reply) => {
    checkTeam(state, request)
    const { projects } = access.authenticate(request)
    const mine = [...state.projects.values()].filter(({ id }) => projects.includes(id))
    const page = pageOf(inListOrder(state, mine), { request, reply, fault: faultOf(request) })
    return page.map((project) => selectFields(request, 'project', renderProject(project)))
  })

  app.post('/teams/:id/projects', (request, reply) => {
    checkTeam(state, request)
    const { name, bgp = false } = readProject(request.body)
    if (name === undefined) throw badRequest('name is required.')
    const project: Project = { id: state.newProjectId(), name, bgp: { enabled: bgp, localAsn: 0 } }
    state.projects.set(project.id, project)
    access.authenticate(request).projects.push(project.id)
    return reply.code(201).send(renderProject(project))
  })
}

function singleProjects(app: FastifyInstance, { state, find }: RouteContext): void {
  app.get('/projects/:id', (request) =>
    selectFields(request, 'project', renderProjectWithTraffic(find.project(request))),
  )

  app.put('/projects/:id', (request, reply) => {
    const project = find.project(request)
    const { name, bgp } = readProject(request.body)
    if (name !== undefined) project.name = name
    if (bgp !== undefined) project.bgp.enabled = bgp
    return reply.code(201).send(selectFields(request, 'project', renderProject(project)))
  })

  app.delete('/projects/:id', (request, reply) => {
    const project = find.project(request)
    if ([...state.servers.values()].some((server) => server.project === project))
      throw badRequest('A project with servers cannot be deleted.')
    for (const ip of floatingIn(state, project)) if (!ip.isDeleting) deleteIp(state, ip)
    state.projects.delete(project.id)
    return reply.code(204).send()
  })
}

function checkTeam({ team }: State, request: FastifyRequest): void {
  if ((request.params as { id: string }).id !== String(team.id)) throw notFound()
}

function readProject(sent: unknown): { name?: string; bgp?: boolean } {
  const { name, bgp } = objectOf(sent)
  return { ...(typeof name === 'string' && name !== '' && { name }), ...readBgp(bgp) }
}
