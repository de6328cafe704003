import { choice, duration, number } from './formats.ts'
import type { SettingsTable } from './setting.ts'

/** How nodes are kept in step with their machines. */
export const nodeSettings = {
  nodeStatusUpdateMs: {
    title: 'node status update frequency',
    flag: '--node-status-update-frequency',
    format: duration(1000),
    default: '5m',
    sentence: 'How often all machines are listed, and addresses and labels of nodes compared with them.',
  },
  nodeMonitorMs: {
    title: 'node monitor period',
    flag: '--node-monitor-period',
    format: duration(1000),
    default: '5s',
    sentence:
      'How often the machine of a node that is not ready is looked at, at first; up to twelve times as long later.',
  },
  concurrentNodeSyncs: {
    title: 'concurrent node syncs',
    flag: '--concurrent-node-syncs',
    format: number(1, 100),
    default: '4',
    sentence: 'Nodes that are worked on at the same time.',
  },
  nodeRemoval: {
    title: 'node removal',
    flag: '--node-removal',
    env: 'EIP_NODE_REMOVAL',
    format: choice(['delete', 'report']),
    default: 'delete',
    sentence: 'What becomes of a node that is not ready and whose machine is gone: it is deleted, or only told of.',
  },
  nodeRemovalDelayMs: {
    title: 'node removal delay',
    flag: '--node-removal-delay',
    env: 'EIP_NODE_REMOVAL_DELAY',
    format: duration(1000),
    default: '30s',
    sentence: 'How long the cloud has to say that a machine does not exist before its node is deleted.',
  },
  maxNodeRemovals: {
    title: 'maximum node removals',
    flag: '--max-node-removals',
    env: 'EIP_MAX_NODE_REMOVALS',
    format: number(1, 10_000),
    default: '5',
    sentence:
      'Nodes that may be deleted within ten minutes, and never more than half of them; beyond it none is until a person has looked.',
  },
} as const satisfies SettingsTable
