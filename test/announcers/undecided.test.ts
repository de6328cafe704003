import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { isAdvertisement, isPool } from '../../announcers/metallb/resources.ts'
import { aPool, marks } from './cluster.ts'

const labels = { [marks.label.name]: marks.label.value, 'service-web': 'namespace-default' }
const undecided = [{ address: '198.51.100.7', services: ['default/web'] }]

for (const addresses of [['198.51.100.0/29'], ['198.51.100.2-198.51.100.9'], ['198.51.100.6/32', '198.51.100.7/32']]) {
  test(`a pool of ${addresses.join(' and ')} stays announced while of one address nobody knows whose it is`, () => {
    const wide = aPool({ name: 'default.web', labels, addresses })
    const configuration = metallbObjects({ ...marks, peerMode: 'native' })
    const planned = configuration.objects({ addresses: [], undecided, nodes: [] }, [wide])
    const wanted = planned.wanted.map(({ object }) => object)
    assert.equal(wanted.filter(isPool), [wide])
    assert.equal(
      wanted.filter(isAdvertisement).map(({ spec }) => spec?.ipAddressPools),
      [['default.web']],
    )
  })
}

const decided = [{ address: '198.51.100.6', services: ['default/api'] }]
const prefixes = ['198.51.100.6/32', '198.51.100.7/32']

for (const addresses of [prefixes, prefixes.toReversed(), ['198.51.100.0/29']]) {
  test(`a pool of ${addresses.join(' and ')} keeps an undecided address beside one that the ledger has decided`, () => {
    const wide = aPool({ name: 'default.web', labels, addresses })
    const configuration = metallbObjects({ ...marks, peerMode: 'native' })
    const pools = (of: typeof undecided, existing = [wide]) =>
      configuration
        .objects({ addresses: decided, undecided: of, nodes: [] }, existing)
        .wanted.map(({ object }) => object)
        .filter(isPool)
        .map(({ metadata, spec }) => [metadata.name, spec.addresses])
    const left = addresses.length > 1 ? addresses : prefixes
    assert.equal(pools(undecided), [['default.web', left]])
    assert.equal(pools([...undecided, { address: '198.51.100.6', services: ['default/web'] }]), [['default.web', left]])
    assert.equal(pools([]), [['default.web', ['198.51.100.6/32']]], 'until it is decided')
    const own = aPool({ name: 'default.own', labels, addresses: ['198.51.100.7/32'] })
    const first = aPool({ name: 'default.web', labels, addresses: ['198.51.100.6/32'] })
    assert.equal(pools(undecided, [first, own]), [
      ['default.web', ['198.51.100.6/32']],
      ['default.own', ['198.51.100.7/32']],
    ])
  })
}

test.run()
