import { badRequest } from './errors.ts'
import type { Project, Server, State } from './state.ts'

/**
 * Enables or disables BGP for a server. After the first server of a project, the provider assigns the project an ASN,
 * with a delay.
 */
export function setServerBgp(state: State, server: Server, enabled: boolean): void {
  const { project } = server
  if (enabled && !project.bgp.enabled && state.behaviour.bgpBeforeProject === '400')
    throw badRequest('BGP is not enabled for this project.')
  if (enabled === server.bgp.enabled) return
  server.bgp = { enabled, connected: 0, routes: [], updatedMs: state.now() }
  if (enabled) state.schedule(state.localAsnMs, () => assignLocalAsn(state, project))
  else if (state.behaviour.localAsn === 'cleared' && !hasBgpServers(state, project)) project.bgp.localAsn = 0
}

/** Assigns an ASN to a project that has none, if BGP is enabled for one of its servers. */
export function assignLocalAsn(state: State, project: Project): void {
  if (project.bgp.localAsn === 0 && hasBgpServers(state, project)) project.bgp.localAsn = state.newAsn()
}

function hasBgpServers({ servers }: State, project: Project): boolean {
  return [...servers.values()].some((server) => server.project === project && server.bgp.enabled)
}
