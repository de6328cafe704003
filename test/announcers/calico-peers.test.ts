import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { calicoObjects } from '../../announcers/calico/objects.ts'
import { isPeer } from '../../announcers/calico/resources.ts'
import { makeNode } from './states.ts'

const configuration = calicoObjects({ namespace: 'calico-system' })
const addresses = [{ address: '198.51.100.7', services: ['default/web'] }]

// The router accepts a session from one address of the node. UseNodeIP is Calico's own, None that of the route to the router.
const sources: { name: string; annotation?: string; is: 'UseNodeIP' | 'None' }[] = [
  { name: 'has not said its address yet', is: 'UseNodeIP' },
  { name: 'uses the address that the router expects', annotation: '10.0.0.5/24', is: 'UseNodeIP' },
  { name: 'uses another address', annotation: '192.0.2.1/24', is: 'None' },
]
for (const { name, annotation, is } of sources) {
  test(`where Calico ${name}, a peer speaks from ${is === 'None' ? 'the address of its route' : "Calico's"}`, () => {
    const annotations = annotation === undefined ? {} : { 'projectcalico.org/IPv4Address': annotation }
    const nodes = [{ ...makeNode('node-a', { sourceAddress: '10.0.0.5' }), annotations }]
    const { wanted, problems } = configuration.objects({ addresses, nodes }, [])
    const peers = wanted.map(({ object }) => object).filter(isPeer)
    assert.equal(
      peers.map(({ spec }) => spec.sourceAddress),
      [is, is],
    )
    assert.is(problems.length, is === 'None' ? peers.length : 0)
  })
}

test.run()
