import { choice, duration, number } from './formats.ts'
import type { Format, SettingsTable } from './setting.ts'

/** The node controllers that may be left to another program, by upstream's shorter names. */
export type NodeController = 'cloud-node' | 'cloud-node-lifecycle'

/** Upstream's list of controllers. Most of those that it may turn off cannot be turned off here. */
const leftControllers: Format<readonly NodeController[]> = {
  placeholder: 'list',
  pattern: String.raw`^\*(,-(cloud-node(-lifecycle)?|(node-)?route)(-controller)?)*$`,
  read(given) {
    if (!new RegExp(this.pattern ?? '').test(given))
      return { right: '"*", or "*,-cloud-node,-cloud-node-lifecycle" where another program serves the nodes' }
    const left = given.split(',').map((one) => one.replace(/^-/, '').replace(/-controller$/, ''))
    return { value: (['cloud-node', 'cloud-node-lifecycle'] as const).filter((one) => left.includes(one)) }
  },
}

/** How nodes follow their machines. */
export const nodeSettings = {
  leftControllers: {
    flag: '--controllers',
    format: leftControllers,
    default: '*',
    sentence:
      'Controllers that run. *,-cloud-node,-cloud-node-lifecycle leaves the nodes to another cloud controller manager: it initializes them, and deletes those without a machine.',
  },
  nodeStatusUpdateMs: {
    flag: '--node-status-update-frequency',
    format: duration(1000),
    default: '5m',
    sentence: 'How often eip-admission lists all machines and compares the addresses and labels of nodes with them.',
  },
  nodeMonitorMs: {
    flag: '--node-monitor-period',
    format: duration(1000),
    default: '5s',
    sentence: 'How often the machine of a node that is not ready is checked. The interval grows up to twelve times.',
  },
  concurrentNodeSyncs: {
    flag: '--concurrent-node-syncs',
    format: number(1, 100),
    default: '4',
    sentence: 'Number of nodes that are reconciled at the same time.',
  },
  nodeRemoval: {
    flag: '--node-removal',
    env: 'EIP_NODE_REMOVAL',
    format: choice(['delete', 'report']),
    default: 'delete',
    sentence:
      'What happens to a node that is not ready and whose machine no longer exists: delete deletes it, report only reports it.',
  },
  nodeRemovalDelayMs: {
    flag: '--node-removal-delay',
    env: 'EIP_NODE_REMOVAL_DELAY',
    format: duration(1000),
    default: '30s',
    sentence: 'How long the provider must keep answering that a machine does not exist before its node is deleted.',
  },
  maxNodeRemovals: {
    title: 'maximum number of node removals',
    flag: '--max-node-removals',
    env: 'EIP_MAX_NODE_REMOVALS',
    format: number(1, 10_000),
    default: '5',
    sentence:
      'Maximum number of nodes deleted within ten minutes; at most half of all nodes, but at least one. If more would be deleted, none is until an operator intervenes.',
  },
} as const satisfies SettingsTable
