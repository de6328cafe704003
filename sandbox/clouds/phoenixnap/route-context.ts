import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActiveFault } from '../faults.ts'
import { applyListFault } from '../list-faults.ts'
import { invalid, refused } from './errors.ts'
import { type State, type TagAssignment, locations } from './state.ts'

/** The facts that routes share: the accounts, the account of a call's token, and the fault of a call. */
export type RouteContext = {
  state: State
  accountOf: (request: FastifyRequest) => string
  faultOf: (request: FastifyRequest) => ActiveFault | undefined
}

type Owned = { id: string; account: string; tags?: TagAssignment[]; location?: string }

/** Finds an object of the account by the id in the path. A deleted object and another account's look alike. */
export function find<T extends Owned>(context: RouteContext, request: FastifyRequest, all: Map<string, T>): T {
  return findById(context, request, { all, id: paramOf(request, 'id') })
}

/** Does the same for a given id. */
export function findById<T extends Owned>(
  { state, accountOf }: RouteContext,
  request: FastifyRequest,
  { all, id }: { all: Map<string, T>; id: string },
): T {
  const found = all.get(id)
  if (!found || found.account !== accountOf(request)) throw refused(Number(state.behaviour.gone))
  return found
}

export function paramOf({ params }: FastifyRequest, name: string): string {
  return (params as Record<string, string>)[name] ?? ''
}

/** Lists the objects of the account, all in one array: the API has no pages. */
export function list<T extends Owned>(context: RouteContext, request: FastifyRequest, all: Iterable<T>): T[] {
  const account = context.accountOf(request)
  const { location, tag } = request.query as Record<string, string | string[] | undefined>
  const wanted = [tag ?? []].flat().map((text) => wantedTag(context, account, text))
  const found = [...all].filter((one) => {
    if (one.account !== account) return false
    if (location !== undefined && one.location !== location) return false
    const has = (each: ReturnType<typeof wantedTag>) => (one.tags ?? []).some(each)
    return wanted.length === 0 || (context.state.behaviour.tagFilter === 'and' ? wanted.every(has) : wanted.some(has))
  })
  return applyListFault(found, context.faultOf(request))
}

function wantedTag({ state }: RouteContext, account: string, text: string) {
  const [name = '', value] = text.split('.')
  const isKnown = [...state.tags.values()].some((tag) => tag.account === account && tag.name === name)
  if (!isKnown && state.behaviour.unknownTagFilter === '400') throw invalid(`tag ${name} does not exist`)
  return (one: TagAssignment) => one.tag.name === name && (value === undefined || one.value === value)
}

/** Answers that a request is accepted. The whole body is a sentence, as a JSON string. */
export function accept(reply: FastifyReply, sentence: string): FastifyReply {
  return reply.code(202).type('application/json').send(JSON.stringify(sentence))
}

/** Whether the request forces what is otherwise refused. */
export function isForced({ query }: FastifyRequest): boolean {
  return (query as { force?: string }).force === 'true'
}

/** Returns the code of a current location; throws for any other. */
export function locationIn(given: unknown): string {
  if (typeof given === 'string' && Object.hasOwn(locations, given)) return given
  throw invalid(`location: must be one of ${Object.keys(locations).join(', ')}`)
}
