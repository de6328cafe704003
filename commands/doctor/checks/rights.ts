import { keyOf, type Rule } from '../../../kube/objects.ts'
import { type Findings, defineCheck } from '../check.ts'
import { installRemedy } from '../install-remedy.ts'
import type { RoleObject, Values } from '../../../inspect/facts.ts'
import type { Remedy } from '../../../lib/remedy.ts'

export const roles = defineCheck({
  id: 'roles',
  section: 'Rights',
  checks: 'The installed roles grant exactly the rights of this version, and are bound to its service accounts.',
  good: 'the installed roles grant exactly the rights that this version needs',
  needs: ['roles', 'webhooks'],
  judge: (facts, context) => facts.roles.flatMap((role) => roleFindings(role, installRemedy(facts.webhooks, context))),
})

function roleFindings({ wanted, found }: Values['roles'][number], install: Remedy): Findings {
  const where = `${wanted.kind} ${keyOf(wanted)}`
  const why = '`serve` lacks rights, and fails where it needs them'
  if (!found) return { level: 'error', what: `${where} does not exist`, why, fix: install }
  if (wanted.subjects) return subjectFindings(wanted, found, install)
  const missing = rightsOf(wanted).filter((right) => !isAllowed(right, found.rules ?? []))
  const surplus = rightsOf(found).filter((right) => !isAllowed(right, wanted.rules ?? []))
  return [
    { level: 'error' as const, rights: missing, text: 'lacks rights', why },
    {
      level: 'warning' as const,
      rights: surplus,
      text: 'grants more rights than this version needs',
      why: 'anyone who has the token of the process has these rights too',
    },
  ].flatMap(({ level, rights, text, why: reason }) =>
    rights.length === 0 ? [] : { level, what: `${where} ${text}: ${rightsText(rights)}`, why: reason, fix: install },
  )
}

function subjectFindings(wanted: RoleObject, found: RoleObject, install: Remedy): Findings {
  const keyOfSubject = ({ kind, name, namespace = '' }: NonNullable<RoleObject['subjects']>[number]) =>
    `${kind} ${namespace}/${name}`
  const bound = (found.subjects ?? []).map(keyOfSubject)
  const missing = (wanted.subjects ?? []).map(keyOfSubject).filter((subject) => !bound.includes(subject))
  if (missing.length === 0) return []
  const why = 'that service account has none of the rights of the role'
  return [
    { level: 'error', what: `${wanted.kind} ${keyOf(wanted)} does not bind ${missing.join(', ')}`, why, fix: install },
  ]
}

type Right = { group: string; resource: string; verb: string; name: string | undefined }

function rightsOf({ rules }: RoleObject): Right[] {
  return (rules ?? []).flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => (resourceNames ?? [undefined]).map((name) => ({ group, resource, verb, name }))),
      ),
    ),
  )
}

function isAllowed({ group, resource, verb, name }: Right, rules: readonly Rule[]): boolean {
  const has = (list: readonly string[] | undefined, one: string) => list?.includes(one) || list?.includes('*') || false
  return rules.some(({ apiGroups, resources, verbs, resourceNames }) => {
    const isNamed = !resourceNames?.length || (name !== undefined && resourceNames.includes(name))
    return has(apiGroups, group) && has(resources, resource) && has(verbs, verb) && isNamed
  })
}

/** The maximum number of rights that a finding names. */
const maxNamed = 8

function rightsText(rights: readonly Right[]): string {
  const texts = rights.map(({ group, resource, verb, name }) => {
    const what = group === '' ? resource : `${resource}.${group}`
    return name === undefined ? `${verb} ${what}` : `${verb} ${what} ${name}`
  })
  const more = texts.length > maxNamed ? ` and ${texts.length - maxNamed} more` : ''
  return texts.slice(0, maxNamed).join(', ') + more
}
