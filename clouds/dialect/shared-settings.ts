import { loadBalancer, schemesFor } from '../../announcers/load-balancer-setting.ts'
import type { LoadBalancerDialect } from '../../announcers/setting.ts'
import { asn, boolean, number, text, token, url } from '../../settings/formats.ts'
import { labelSelector } from '../../settings/label-selector.ts'
import type { Flag, Format } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'

// Settings that vendors share. Each vendor has its own names for their sources.

/** The token for the vendor's API. The process reloads a changed one while it runs. */
export function apiKey(envPrefix: string, sentence: string) {
  return {
    title: 'API key',
    env: `${envPrefix}API_KEY`,
    field: 'apiKey',
    format: token,
    required: true,
    sentence,
    isReloaded: true,
  } as const
}

/** The project of the addresses and the machines. */
export function projectId(envPrefix: string, format: Format<string> = text('id')) {
  return {
    title: 'project',
    flag: '--project-id',
    env: `${envPrefix}PROJECT_ID`,
    field: 'projectID',
    format,
    required: true,
    sentence: 'Id of the project that pays for the addresses and owns the machines.',
  } as const
}

/** The URL of the vendor's API. */
export function baseUrl(value: string) {
  return {
    title: 'API base URL',
    flag: '--base-url',
    field: 'base-url',
    format: url('loopback'),
    default: value,
    sentence: 'URL of the API. Plain http is allowed only to a loopback address.',
  } as const
}

/** The load balancer, which brings traffic to the nodes. */
export function loadBalancerChoice(env: string, dialect: LoadBalancerDialect) {
  return {
    title: 'load balancer',
    flag: '--loadbalancer',
    env,
    field: 'loadbalancer',
    format: loadBalancer(dialect),
    default: 'none',
    sentence: `How traffic reaches the nodes: ${oneOf(schemesFor(dialect))}. With none, there is no load balancing.`,
  } as const
}

/** The tag of the control-plane address. `address` is the vendor's short word for an address, `of` what carries the tag. */
export function controlPlaneTag(
  envPrefix: string,
  { address, placeholder, of }: { address: 'eip' | 'fip'; placeholder: string; of: string },
) {
  const flag: Flag = `--${address}-tag`
  const made = address === 'eip' ? 'reserved' : 'ordered'
  return {
    title: 'control-plane address tag',
    flag,
    env: `${envPrefix}${address.toUpperCase()}_TAG`,
    field: `${address}Tag`,
    format: text(placeholder),
    unset: 'off',
    sentence: `Tag of the ${of} the control-plane address. It is moved when its holder fails, and never ${made} or deleted.`,
    findsControlPlaneAddress: true,
  } as const
}

/** The port of the control plane. */
export function apiServerPort(envPrefix: string) {
  return {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: `${envPrefix}API_SERVER_PORT`,
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port at the control-plane address, for users and probes of it. 0 means the API server's own port.",
  } as const
}

/** The addresses at which API servers are probed. `address` is the vendor's short word for an address. */
export function healthCheckUseHostIp(envPrefix: string, address: 'eip' | 'fip') {
  const flag: Flag = `--${address}-health-check-use-host-ip`
  return {
    title: 'control-plane probe by host address',
    flag,
    env: `${envPrefix}${address.toUpperCase()}_HEALTH_CHECK_USE_HOST_IP`,
    field: `${address}HealthCheckUseHostIP`,
    format: boolean,
    default: 'false',
    sentence:
      'Probes the API servers only by their own addresses. Otherwise guardians also probe the control-plane address itself, unless it routes to their own ' +
      'machine.',
  } as const
}

/** The ASN for enabling BGP on a project. */
export function localAsn(envPrefix: string) {
  return {
    title: 'local ASN',
    flag: '--local-asn',
    env: `${envPrefix}LOCAL_ASN`,
    field: 'localASN',
    format: asn,
    default: '65000',
    sentence:
      'Local ASN with which eip-admission enables BGP on the project. A project that already has BGP keeps its own.',
  } as const
}

/** Selects the nodes that take part in BGP. */
export function bgpNodeSelector(envPrefix: string) {
  return {
    title: 'BGP node selector',
    flag: '--bgp-node-selector',
    env: `${envPrefix}BGP_NODE_SELECTOR`,
    field: 'bgpNodeSelector',
    format: labelSelector,
    unset: 'all nodes',
    sentence: 'Label selector of the nodes that take part in BGP.',
  } as const
}
