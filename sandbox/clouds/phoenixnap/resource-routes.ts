import type { FastifyInstance } from 'fastify'
import { objectOf } from '../request-body.ts'
import { createBlock, deleteBlock, readDescription } from './blocks.ts'
import { invalid, refused } from './errors.ts'
import { changePeerGroup, createPeerGroup, deletePeerGroup } from './peer-groups.ts'
import { renderBlock, renderPeerGroup, renderTag } from './render.ts'
import { type RouteContext, find, list } from './route-context.ts'
import { type Block, type PeerGroup, type TagName, locations } from './state.ts'
import { changeTag, createTag, deleteTag, readTags } from './tags.ts'

/** Registers the routes of blocks, tags, peer groups and locations. */
export function resourceRoutes(app: FastifyInstance, context: RouteContext): void {
  blockRoutes(app, context)
  tagRoutes(app, context)
  peerGroupRoutes(app, context)
  locationRoutes(app)
}

const blocksPath = '/ips/v1/ip-blocks'

function blockRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, accountOf } = context
  const render = (block: Block) => renderBlock(state, block)
  app.get(blocksPath, (request) => {
    const shown = [...state.blocks.values()].filter(
      ({ isSystemManaged }) => !isSystemManaged || state.behaviour.systemBlocks === 'listed',
    )
    return list(context, request, shown).map(render)
  })
  app.post(blocksPath, (request, reply) => {
    reply.code(201)
    return render(createBlock(state, accountOf(request), objectOf(request.body)))
  })
  app.get(`${blocksPath}/:id`, (request) => render(find(context, request, state.blocks)))
  app.patch(`${blocksPath}/:id`, (request) => {
    const block = state.blocks.get((request.params as { id: string }).id)
    // No other call for a single block is documented with 404.
    if (!block || block.account !== accountOf(request)) throw refused(404)
    const { description } = objectOf(request.body)
    if (description !== undefined) block.description = readDescription(description)
    return render(block)
  })
  app.put(`${blocksPath}/:id/tags`, (request) => {
    const block = find(context, request, state.blocks)
    block.tags = readTags(state, accountOf(request), request.body)
    return render(block)
  })
  app.delete(`${blocksPath}/:id`, (request) => {
    const block = find(context, request, state.blocks)
    deleteBlock(state, block)
    return { result: 'IP Block has been deleted.', ipBlockId: block.id }
  })
}

const tagsPath = '/tag-manager/v1/tags'

function tagRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, accountOf } = context
  const render = (tag: TagName) => renderTag(state, tag)
  app.get(tagsPath, (request) => {
    const { name } = request.query as { name?: string }
    const wanted = [...state.tags.values()].filter((tag) => name === undefined || tag.name === name)
    return list(context, request, wanted).map(render)
  })
  app.post(tagsPath, (request, reply) => {
    reply.code(201)
    return render(createTag(state, accountOf(request), objectOf(request.body)))
  })
  app.get(`${tagsPath}/:id`, (request) => render(find(context, request, state.tags)))
  app.patch(`${tagsPath}/:id`, (request) => {
    const tag = find(context, request, state.tags)
    changeTag(state, tag, objectOf(request.body))
    return render(tag)
  })
  app.delete(`${tagsPath}/:id`, (request) => {
    const tag = find(context, request, state.tags)
    deleteTag(state, tag)
    return { result: 'Tag has been deleted.', tagId: tag.id }
  })
}

const groupsPath = '/networks/v1/bgp-peer-groups'

function peerGroupRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, accountOf } = context
  const render = (group: PeerGroup) => renderPeerGroup(state, group)
  app.get(groupsPath, (request) => list(context, request, state.groups.values()).map(render))
  app.post(groupsPath, (request, reply) => {
    reply.code(202)
    return render(createPeerGroup(state, accountOf(request), objectOf(request.body)))
  })
  app.get(`${groupsPath}/:id`, (request) => render(find(context, request, state.groups)))
  app.patch(`${groupsPath}/:id`, (request, reply) => {
    const group = find(context, request, state.groups)
    changePeerGroup(state, group, objectOf(request.body))
    reply.code(202)
    return render(group)
  })
  app.delete(`${groupsPath}/:id`, (request, reply) => {
    const group = find(context, request, state.groups)
    deletePeerGroup(state, group)
    reply.code(202)
    return render(group)
  })
}

export const locationsPath = '/location-api/v1/locations'

const categories = {
  SERVER: 'Server',
  BANDWIDTH: 'Bandwidth',
  OPERATING_SYSTEM: 'Operating System',
  PUBLIC_IP: 'Public IP',
  STORAGE: 'Storage',
}

function locationRoutes(app: FastifyInstance): void {
  app.get(locationsPath, (request) => {
    const { location, productCategory } = request.query as Record<string, string | undefined>
    if (productCategory !== undefined && !Object.hasOwn(categories, productCategory))
      throw invalid('productCategory: unknown')
    const shown = Object.entries(categories).filter(([one]) => productCategory === undefined || one === productCategory)
    return Object.entries(locations)
      .filter(([code]) => location === undefined || code === location)
      .map(([code, locationDescription]) => ({
        location: code,
        locationDescription,
        productCategories: shown.map(([productCategory_, productCategoryDescription]) => ({
          productCategory: productCategory_,
          productCategoryDescription,
        })),
      }))
  })
}
