import type { FastifyInstance } from 'fastify'
import { objectOf } from '../request-body.ts'
import type { Access } from './access.ts'
import { findTeam } from './account-routes.ts'
import { type RouteContext, inListOrder, pageOf } from './route-context.ts'
import { badRequest } from './errors.ts'
import { selectFields } from './fields.ts'
import { deleteIp } from './ips.ts'
import { renderProject, renderProjectWithTraffic } from './render.ts'
import { readBgp } from './server-body.ts'
import { terminate } from './servers.ts'
import { type Project, type State, floatingIn } from './state.ts'

/** Serves the projects of teams. */
export function projectRoutes(app: FastifyInstance, cherry: RouteContext, access: Access): void {
  teamProjects(app, cherry, access)
  singleProjects(app, cherry)
}

function teamProjects(app: FastifyInstance, { state, faultOf }: RouteContext, access: Access): void {
  app.get('/teams/:id/projects', (request, reply) => {
    const wanted = findTeam(state, request)
    const { projects } = access.authenticate(request)
    const mine = [...state.projects.values()].filter(({ id, team }) => team === wanted && projects.includes(id))
    const page = pageOf(state, inListOrder(state, mine), { request, reply, fault: faultOf(request) })
    return page.map((project) => selectFields(request, 'project', renderProject(project)))
  })

  app.post('/teams/:id/projects', (request, reply) => {
    const team = findTeam(state, request)
    const { name, bgp = false } = readProject(request.body)
    if (name === undefined) throw badRequest('name is required.')
    const project: Project = { id: state.newProjectId(), team, name, bgp: { enabled: bgp, localAsn: 0 } }
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
    removeProject(state, find.project(request))
    return reply.code(204).send()
  })
}

/** Removes a project with its servers and floating IPs. */
function removeProject(state: State, project: Project): void {
  for (const ip of floatingIn(state, project)) {
    delete ip.target
    if (!ip.isDeleting) deleteIp(state, ip)
  }
  for (const server of state.servers.values())
    if (server.project === project && server.state !== 'terminating') terminate(state, server)
  state.projects.delete(project.id)
}

function readProject(sent: unknown): { name?: string; bgp?: boolean } {
  const { name, bgp } = objectOf(sent)
  return { ...(typeof name === 'string' && name !== '' && { name }), ...readBgp(bgp) }
}
