import type { Flag } from '../../settings/setting.ts'

const routes = 'eip-admission manages no pod networks and no routes'
const callers = 'the health and metrics port does not authenticate its callers'
const pace = 'eip-admission does not limit its calls to the API server'

/** Flags of upstream's cloud controller managers that old manifests contain: accepted without effect, each with its reason. */
export const ignoredFlags: Readonly<Record<Flag, string>> = {
  '--allocate-node-cidrs': routes,
  '--allow-untagged-cloud': 'the cluster id (--cluster-id) identifies the cluster',
  '--authentication-kubeconfig': callers,
  '--authentication-skip-lookup': callers,
  '--authentication-tolerate-lookup-failure': callers,
  '--authorization-always-allow-paths': callers,
  '--authorization-kubeconfig': callers,
  '--cidr-allocator-type': routes,
  '--cluster-cidr': routes,
  '--cluster-name': 'the cluster id (--cluster-id) identifies the cluster',
  '--concurrent-node-status-updates': 'use --concurrent-node-syncs, which covers node status too',
  '--configure-cloud-routes': routes,
  '--external-cloud-volume-plugin': 'eip-admission manages no volumes',
  '--feature-gates': 'eip-admission has no feature gates',
  '--kube-api-burst': pace,
  '--kube-api-content-type': 'eip-admission always uses JSON',
  '--kube-api-qps': pace,
  '--log-flush-frequency': 'log lines are written immediately',
  '--min-resync-period': 'the sweep finds what a watch missed',
  '--node-sync-period': 'nodes are reconciled when they change and every --node-status-update-frequency',
  '--profiling': 'eip-admission has no profiling over HTTP',
  '--route-reconciliation-period': routes,
  '--use-service-account-credentials': 'all controllers use one service account',
  '--vmodule': '--v applies to all modules',
}

/** Flags of which we support only the upstream default: any other value is refused. */
export const fixedFlags: Readonly<Record<Flag, { value: string; right: string }>> = {
  '--leader-elect-resource-lock': { value: 'leases', right: 'it must be "leases"' },
}
