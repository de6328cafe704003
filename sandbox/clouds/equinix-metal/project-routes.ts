import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { objectOf, textOf } from '../request-body.ts'
import type { Access } from './access.ts'
import { findOrganization } from './account-routes.ts'
import { notFound, unprocessable } from './errors.ts'
import { pageOf } from './paging.ts'
import { renderWholeProject } from './render.ts'
import { customdataOf, listOfText } from './request-body.ts'
import { removeReservation } from './reservations.ts'
import { type RouteContext, inListOrder } from './route-context.ts'
import { type Organization, type Project, type State, makeProject, newId } from './state.ts'

/** Serves projects, which belong to organizations. */
export function projectRoutes(app: FastifyInstance, metal: RouteContext, access: Access): void {
  projectLists(app, metal, access)
  singleProjects(app, metal)
}

function projectLists(app: FastifyInstance, { state, faultOf }: RouteContext, access: Access): void {
  const list = (request: FastifyRequest, organization?: Organization) => {
    const { projects } = access.authenticate(request)
    const { name } = request.query as { name?: string }
    const mine = [...state.projects.values()].filter(
      (one) =>
        projects.includes(one.id) &&
        (organization === undefined || one.organization === organization) &&
        (name === undefined || one.name.includes(name)),
    )
    const { items, meta } = pageOf(inListOrder(state, mine), { request, perPage: 10, fault: faultOf(request) })
    return { projects: items.map(renderWholeProject), meta }
  }
  const add = (request: FastifyRequest, reply: FastifyReply, organization: Organization) => {
    const token = access.checkWrite(request)
    const { name, ...given } = readProject(request.body)
    if (name === undefined) throw unprocessable("Name can't be blank")
    const project = makeProject({ id: newId(), name, organization, createdAt: state.timestamp(), ...given })
    state.projects.set(project.id, project)
    token.projects.push(project.id)
    return reply.code(201).send(renderWholeProject(project))
  }

  app.get('/projects', (request) => list(request))
  app.post('/projects', (request, reply) => {
    const { organization_id: id } = objectOf(request.body)
    const [first] = state.organizations.values()
    const organization = textOf(id) ? state.organizations.get(textOf(id)) : first
    if (!organization) throw notFound()
    return add(request, reply, organization)
  })
  app.get('/organizations/:id/projects', (request) => list(request, findOrganization(state, request)))
  app.post('/organizations/:id/projects', (request, reply) => add(request, reply, findOrganization(state, request)))
}

function singleProjects(app: FastifyInstance, { state, find }: RouteContext): void {
  app.get('/projects/:id', (request) => renderWholeProject(find.project(request)))
  app.get('/projects/:id/customdata', (request) => find.project(request).customdata)
  // The specification has PUT; a widely used client sends PATCH.
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/projects/:id',
    handler(request) {
      const project = find.project(request)
      Object.assign(project, readProject(request.body), { updatedAt: state.timestamp() })
      return renderWholeProject(project)
    },
  })
  app.delete('/projects/:id', (request, reply) => {
    removeProject(state, find.project(request))
    return reply.code(204).send()
  })
}

function removeProject(state: State, project: Project): void {
  if ([...state.devices.values()].some((device) => device.project === project))
    throw unprocessable('Cannot delete a project with devices')
  for (const reservation of state.reservations.values())
    if (reservation.project === project) removeReservation(state, reservation)
  for (const key of state.sshKeys.values()) if (key.project === project) state.sshKeys.delete(key.id)
  state.projects.delete(project.id)
}

function readProject(sent: unknown): Partial<Pick<Project, 'name' | 'tags' | 'customdata'>> {
  const { name, tags, customdata } = objectOf(sent)
  return {
    ...(textOf(name) && { name: textOf(name) }),
    ...(tags !== undefined && { tags: listOfText(tags, 'tags') }),
    ...(customdata !== undefined && { customdata: customdataOf(customdata) }),
  }
}
