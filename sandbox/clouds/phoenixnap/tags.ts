import type { ApiError } from '../api-error.ts'
import { invalid, refused } from './errors.ts'
import { objectOf, textOf } from '../request-body.ts'
import type { State, TagAssignment, TagName } from './state.ts'

/** The characters of names and values, as documented. */
const allowed = /^[A-zÀ-ú0-9_-]{1,100}$/

type Body = Record<string, unknown>

/** Creates a tag name; throws if the account already has it. */
export function createTag(state: State, account: string, body: Body): TagName {
  const wanted = readTagName(body)
  if (tagNamed(state, account, wanted.name)) throw takenName(wanted)
  const tag = { id: state.newId(), account, description: '', ...wanted }
  state.tags.set(tag.id, tag)
  return tag
}

/** Changes a tag name, also on every resource. */
export function changeTag(state: State, tag: TagName, body: Body): void {
  const wanted = readTagName(body)
  if ((tagNamed(state, tag.account, wanted.name) ?? tag) !== tag) throw takenName(wanted)
  Object.assign(tag, wanted)
}

function readTagName({ name, description, isBillingTag }: Body): Pick<TagName, 'name' | 'isBillingTag'> {
  if (typeof name !== 'string' || !allowed.test(name)) throw invalid(`name: must match ${allowed.source}`)
  if (typeof isBillingTag !== 'boolean') throw invalid('isBillingTag: must not be null')
  return { name, isBillingTag, ...(description !== undefined && { description: textOf(description) }) }
}

function takenName({ name }: Pick<TagName, 'name'>): ApiError {
  return refused(409, `The tag with name ${name} already exists.`)
}

/** Removes a tag name, also from every resource. */
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
    if (!tag) throw refused(Number(state.behaviour.unknownTagName), `The tag with name ${name} does not exist.`)
    if (value !== undefined && value !== null && !(typeof value === 'string' && allowed.test(value)))
      throw invalid(`tags: the value of ${name} must match ${allowed.source}`)
    return { tag, value: typeof value === 'string' ? value : undefined }
  })
}

/** The name of an account's tag. */
function tagNamed({ tags }: State, account: string, name: string): TagName | undefined {
  return [...tags.values()].find((tag) => tag.account === account && tag.name === name)
}
