import { ApiError, invalid } from './errors.ts'
import { objectOf, textOf } from '../request-body.ts'
import type { State, TagAssignment, TagName } from './state.ts'

/** The characters of names and values, as the documents have them. */
const allowed = /^[A-zÀ-ú0-9_-]{1,100}$/

/** Creates a tag name; throws where the account has it. */
export function createTag(state: State, account: string, body: Record<string, unknown>): TagName {
  const { name, description = '', isBillingTag } = body
  if (typeof name !== 'string' || !allowed.test(name)) throw invalid(`name: must match ${allowed.source}`)
  if (typeof isBillingTag !== 'boolean') throw invalid('isBillingTag: must not be null')
  if (tagNamed(state, account, name)) throw new ApiError(409, `The tag with name ${name} already exists.`)
  const tag = { id: state.newId(), account, name, description: textOf(description), isBillingTag }
  state.tags.set(tag.id, tag)
  return tag
}

/** Removes a tag name, from every resource too. */
export function deleteTag(state: State, tag: TagName): void {
  state.tags.delete(tag.id)
  for (const one of [...state.blocks.values(), ...state.servers.values()])
    one.tags = one.tags.filter((assignment) => assignment.tag !== tag)
}

/** Reads the tags of a request. Their names have to exist. */
export function readTags(state: State, account: string, given: unknown): TagAssignment[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw invalid('tags: must be a list')
  return given.map(objectOf).map(({ name: givenName, value }) => {
    const name = textOf(givenName)
    const tag = tagNamed(state, account, name)
    if (!tag) throw new ApiError(Number(state.behaviour.unknownTagName), `The tag with name ${name} does not exist.`)
    if (value !== undefined && value !== null && !(typeof value === 'string' && allowed.test(value)))
      throw invalid(`tags: the value of ${name} must match ${allowed.source}`)
    return { tag, value: typeof value === 'string' ? value : undefined }
  })
}

/** The name of an account's tag. */
function tagNamed({ tags }: State, account: string, name: string): TagName | undefined {
  return [...tags.values()].find((tag) => tag.account === account && tag.name === name)
}
