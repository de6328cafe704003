import type { CloudProject } from '../../clouds/ports/cloud-provider.ts'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { confirmProjectAnnotation } from '../record/names.ts'
import { counted } from '../../lib/text.ts'

export type ProjectSeen = {
  project: CloudProject
  /** Where the ledger's ConfigMap is, whether it exists or not. */
  at: { namespace: string; name: string }
  map: ConfigMap | undefined
  /** The reservations that the records name. */
  held: readonly string[]
  /** Every reservation of the configured project; undefined if they could not be read. */
  listed: readonly Reservation[] | undefined
  /** The id of the cluster. */
  cluster: string
}

/**
 * The work that a process may do in the configured project. `ours`: everything. `remember`: the same, after it has
 * written the project into the ledger's ConfigMap. `other`: nothing. `unread`: nothing until the provider answers.
 */
export type ProjectPlan = { kind: 'ours' | 'remember' } | { kind: 'unread'; what: string } | OtherProject

/** The problem, and its remedy. */
export type OtherProject = { kind: 'other'; what: string; remedy: string }

/**
 * Decides whether the configured project is the one of the ledger. Pure.
 *
 * | the ledger remembers   | and                                              | plan     |
 * | ---------------------- | ------------------------------------------------ | -------- |
 * | this project           | the settings name it, or a person confirmed it   | ours     |
 * | another one, or none   | a person has confirmed this one                  | remember |
 * | another one            | otherwise                                        | other    |
 * | its former id, or none | no record has a reservation, the cloud answers   | remember |
 * | its former id, or none | no record has a reservation, the cloud does not  | ours     |
 * | its former id, or none | the project has a reservation of ours            | remember |
 * | its former id, or none | the project has none of ours                     | other    |
 * | its former id, or none | the project could not be read                    | unread   |
 *
 * A mistyped project is not remembered, because the provider never answers for it. If the token decides the project, all
 * projects of the provider share one name, so this name counts as a former id.
 */
export function planProject(seen: ProjectSeen): ProjectPlan {
  const { project, at, map, held, listed, cluster } = seen
  const isConfirmed = isProjectConfirmed(map, project.id)
  const remembered = rememberedProject(map)
  const match = matchOf(project, remembered)
  const isSure = isConfirmed || match === 'same'
  if (map?.data?.['project'] === project.id && isSure) return { kind: 'ours' }
  if (isSure) return { kind: 'remember' }
  if (remembered !== undefined && match === 'other') return otherProject({ project, at, remembered })
  if (held.length === 0) return { kind: listed === undefined ? 'ours' : 'remember' }
  const owner = `the ledger of this cluster has ${counted(held.length, 'reservations')}`
  const named = `${projectText(project)} (${project.setting})`
  if (listed === undefined) {
    return { kind: 'unread', what: `${owner}, and whether they are in ${named} could not be read yet: ${nothing}` }
  }
  if (hasOneOfOurs(listed, { held, cluster })) return { kind: 'remember' }
  const remedy = remedyOf({ project, at }, 'the previous project')
  return { kind: 'other', what: `${owner}, and ${named} has none of them: ${nothing}`, remedy }
}

const nothing = 'nothing is reserved, released or written off'

/** The project that the ledger remembers. Before it had its own entry, a complete sweep wrote it into the adoption mark. */
export function rememberedProject(map: ConfigMap | undefined): string | undefined {
  const { project, adopted } = map?.data ?? {}
  return project ?? adopted
}

/** Whether the remembered project is the configured one. `open`: only the reservations can tell. */
export function matchOf(project: CloudProject, remembered: string | undefined): 'same' | 'open' | 'other' {
  if (remembered === undefined || remembered === project.formerId) return 'open'
  if (remembered !== project.id) return 'other'
  return project.isOfToken ? 'open' : 'same'
}

/** Whether a person has confirmed this project. */
export function isProjectConfirmed(map: ConfigMap | undefined, project: string): boolean {
  return map?.metadata.annotations?.[confirmProjectAnnotation] === project
}

/** The configured project is not the one that the ledger remembers. */
export function otherProject(of: { project: CloudProject; at: ProjectSeen['at']; remembered: string }): OtherProject {
  const { project, remembered } = of
  const what =
    `the ledger of this cluster belongs to project ${remembered}, but the settings name ${projectText(project)} ` +
    `(${project.setting}): ${nothing}`
  return { kind: 'other', what, remedy: remedyOf(of, `project ${remembered}`) }
}

function remedyOf({ project, at }: Pick<ProjectSeen, 'project' | 'at'>, former: string): string {
  const confirm = confirmProjectCommand({ at, project: project.id })
  return `restore ${former} and its token in the settings; or, to switch to ${projectText(project)}, run \`${confirm}\``
}

/** A project, for a sentence. */
export function projectText({ id, isOfToken }: CloudProject): string {
  return isOfToken ? 'the project of the token' : `project ${id}`
}

/** A plan as a reason; undefined if the project is the ledger's. */
export function reasonOf(plan: ProjectPlan): string | undefined {
  if (plan.kind === 'other') return `${plan.what}; ${plan.remedy}`
  return plan.kind === 'unread' ? plan.what : undefined
}

/** The command with which a person confirms a project. */
export function confirmProjectCommand({ at, project }: { at: ProjectSeen['at']; project: string }): string {
  return `kubectl annotate configmap -n ${at.namespace} ${at.name} --overwrite ${confirmProjectAnnotation}=${project}`
}

/** Whether a list contains a reservation of a record, or one that names this cluster. */
export function hasOneOfOurs(
  listed: readonly Reservation[],
  { held, cluster }: Pick<ProjectSeen, 'held' | 'cluster'>,
): boolean {
  return listed.some(({ id, marks }) => held.includes(id) || marks['cluster'] === cluster)
}
