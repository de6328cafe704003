import type { Reading } from '../settings/setting.ts'
import type { LoadBalancer, Parts } from './setting.ts'
import type { Software } from './software.ts'

/** No software announces: the provider routes each address to the machine that we choose. */
export const assignSoftware: Software<'assign'> = {
  schemes: {
    assign: {
      written: 'assign:///[?probe=off]',
      meaning:
        'The provider assigns each address to the machine of one node. eip-admission chooses a node that is ready, moves the ' +
        'address when the node fails, and writes the status of the Service. It also probes the nodes itself, unless `probe=off`.',
      parameters: ['probe'],
      depth: 0,
      read: readAssign,
    },
  },
  needs: 'assignment',
  kinds: ['assign'],
  requests: () => ({ annotations: [], besideSpec: true }),
  announcesBoth: () => true,
  rules: [{ apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] }],
  announcer: ({ isProbed }) => ({
    name: 'assign',
    // With ipMode VIP, the default, kube-proxy delivers packets that arrive for the address.
    request: (address) => ({ status: { loadBalancer: { ingress: [{ ip: address }] } } }),
    assignment: { isProbed },
  }),
}

function readAssign({ parameters: { probe } }: Parts): Reading<LoadBalancer> {
  if (probe !== undefined && probe !== 'on' && probe !== 'off') return { right: 'probe=on or probe=off' }
  return { value: { kind: 'assign', isProbed: probe !== 'off' } }
}
