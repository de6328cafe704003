import type { Flag } from './setting.ts'

const routes = "pods' routes and networks are not ours"
const callers = 'callers of the health and metrics port are not looked up in the cluster'
const pace = 'calls to the API server have no limit of ours'

/** Flags of upstream's cloud controller managers that old manifests carry: taken, without effect, with the reason. */
export const ignoredFlags: Readonly<Record<Flag, string>> = {
  '--allocate-node-cidrs': routes,
  '--allow-untagged-cloud': 'the cluster is known by the UID of its namespace kube-system',
  '--authentication-kubeconfig': callers,
  '--authentication-skip-lookup': callers,
  '--authentication-tolerate-lookup-failure': callers,
  '--authorization-always-allow-paths': callers,
  '--authorization-kubeconfig': callers,
  '--cidr-allocator-type': routes,
  '--cluster-cidr': routes,
  '--cluster-name': 'the cluster is known by the UID of its namespace kube-system',
  '--concurrent-node-status-updates': 'addresses and all else of a node are written together: --concurrent-node-syncs',
  '--configure-cloud-routes': routes,
  '--external-cloud-volume-plugin': 'volumes are not ours',
  '--feature-gates': 'there are no feature gates',
  '--kube-api-burst': pace,
  '--kube-api-content-type': 'the API server is spoken to in JSON',
  '--kube-api-qps': pace,
  '--log-flush-frequency': 'log lines are not held back',
  '--min-resync-period': 'what a watch may have missed is found by the sweep',
  '--node-sync-period': 'nodes are looked at as they change, and at --node-status-update-frequency',
  '--profiling': 'there is no profiling over HTTP',
  '--route-reconciliation-period': routes,
  '--use-service-account-credentials': 'there is one service account for all controllers',
  '--vmodule': 'verbosity is the same for all modules',
}

/** Flags whose upstream default is all we do: taken with that value, refused with another. */
export const fixedFlags: Readonly<Record<Flag, { value: string; right: string }>> = {
  '--controllers': {
    value: '*',
    right: 'it must be "*": controllers cannot be chosen one by one, but --only=webhooks runs none of them',
  },
  '--leader-elect-resource-lock': { value: 'leases', right: 'it must be "leases"' },
}
