// Kubernetes' own tests of LoadBalancers that `make e2e` runs, by a part of their names.

/** Tests that run in a row, and how long they may take together. */
export type Lane = { minutes: number; tests: readonly string[] }

const finalizer = 'should handle load balancer cleanup finalizer for service'

/** The lanes run side by side. Tests with UDP send from one port of the client, so they are in one lane. */
export const lanes: Lane[] = [
  {
    minutes: 30,
    tests: ['should not have connectivity disruption during rolling update with externalTrafficPolicy=Cluster'],
  },
  {
    minutes: 30,
    tests: ['should not have connectivity disruption during rolling update with externalTrafficPolicy=Local'],
  },
  // Without this limit it would wait 15 minutes for something that never happens.
  { minutes: 3, tests: [finalizer] },
  {
    minutes: 30,
    tests: [
      'should be able to change the type and ports of a UDP service',
      'should be able to preserve UDP traffic when server pod cycles for a LoadBalancer service on different nodes',
      'should be able to preserve UDP traffic when server pod cycles for a LoadBalancer service on the same nodes',
      'should work for type=LoadBalancer',
      'should only target nodes with endpoints',
      'should target all nodes with endpoints',
      'should work from pods',
    ],
  },
  {
    minutes: 30,
    tests: [
      'should be able to change the type and ports of a TCP service',
      'should only allow access from service loadbalancer source ranges',
      'should have session affinity work for LoadBalancer service with Local traffic policy',
      'should have session affinity work for LoadBalancer service with Cluster traffic policy',
      'should be able to switch session affinity for LoadBalancer service with Cluster traffic policy',
      'should be able to create LoadBalancer Service without NodePort and change it',
    ],
  },
]

/**
 * Runs while one worker accepts no pods, because it expects answers from several pods. The provider routes an address
 * to one node, so with policy Local all the pods must be there.
 */
export const onOneNode: Lane = {
  minutes: 10,
  tests: ['should be able to switch session affinity for LoadBalancer service with Local traffic policy'],
}

export const tests = [...lanes, onOneNode].flatMap((lane) => lane.tests)

/** The tests that cannot pass on this cluster, with the reason. They still run, and must fail. */
export const cannotRunHere: Record<string, string> = {
  [finalizer]: 'eip-admission has a finalizer of its own: docs/adr/0052-own-finalizer.md says why',
}
