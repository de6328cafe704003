import { badRequest } from './errors.ts'
import type { Project, Server, State } from './state.ts'

/** Turns BGP on or off for a server. The first one of a project brings the project its ASN, a while later. */
export function setServerBgp(state: State, server: Server, enabled: boolean): void {
  const { project } = server
  if (enabled && !project.bgp.enabled && state.behaviour.bgpBeforeProject === '400')
    throw badRequest('BGP is not enabled for this project.')
  if (enabled === server.bgp.enabled) return
  server.bgp = { enabled, connected: 0, routes: [], updatedMs: state.now() }
  if (enabled) state.schedule(state.localAsnMs, () => assignAsn(state, project))
  else if (state.behaviour.localAsn === 'cleared' && !hasSpeakers(state, project)) project.bgp.localAsn = 0
}

function assignAsn(state: State, project: Project): void {
  if (project.bgp.localAsn === 0 && hasSpeakers(state, project)) project.bgp.localAsn = state.newAsn()
}

function hasSpeakers({ servers }: State, project: Project): boolean {
  return [...servers.values()].some((server) => server.project === project && server.bgp.enabled)
}
