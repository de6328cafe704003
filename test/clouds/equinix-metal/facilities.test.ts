// An account as it was spoken of when there were facilities and no metros.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseMachine } from '../../../clouds/equinix-metal/machines.ts'
import { parsePeers } from '../../../clouds/equinix-metal/peering.ts'
import { parseReservation } from '../../../clouds/equinix-metal/parse-reservation.ts'

const metro = { code: 'da' }
const facility = { code: 'DA11', metro }
const inFacilities = { places: 'facilities' } as const

test('a facility is a region without a zone, as the predecessor wrote it', () => {
  const machine = parseMachine({ id: 'm-1', facility, metro }, inFacilities)
  assert.equal([machine?.zone, machine?.region], [undefined, 'da11'])
  assert.is(parseMachine({ id: 'm-1', facility, metro })?.region, 'da')
  assert.is(parseMachine({ id: 'm-1', facility: null, metro }, inFacilities)?.region, 'da')
})

test('an address is in its facility, and in its metro where it has none', () => {
  assert.is(parseReservation({ id: 'r-1', facility, metro }, inFacilities)?.location, 'da11')
  assert.is(parseReservation({ id: 'r-1', facility: null, metro }, inFacilities)?.location, 'da')
  assert.is(parseReservation({ id: 'r-1', facility, metro })?.location, 'da')
})

const neighbor = { address_family: 4, customer_as: 65_000, customer_ip: '10.66.1.3', peer_ips: ['169.254.255.1'] }
const asnOf = (fields: object, options: { peerAsn?: number; otherPeerAsn?: number } = {}) =>
  parsePeers({ bgp_neighbors: [{ ...neighbor, ...fields }] }, options)?.map((peer) => peer.peerAsn)

test('the ASN of the routers is the one of the settings, else the one that the API says, else the usual one', () => {
  const usual = { otherPeerAsn: 65_530 }
  assert.equal(asnOf({ peer_as: 65_531 }, { peerAsn: 64_999, ...usual }), [64_999])
  assert.equal(asnOf({ peer_as: 65_531 }, usual), [65_531])
  assert.equal(asnOf({}, usual), [65_530])
  assert.equal(asnOf({ peer_as: null }, usual), [65_530])
  assert.is(asnOf({}), undefined)
})

test.run()
