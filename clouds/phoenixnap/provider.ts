import { placesText } from '../../settings/setting.ts'
import { withProvider } from '../dialect/with-provider.ts'
import { phoenixnap } from './client.ts'
import { phoenixnapMetal } from './settings.ts'

/**
 * phoenixNAP's Bare Metal Cloud: blocks of two addresses, one of which the servers of their location announce. No call
 * moves an address from one server to another, so there is no control-plane address.
 */
export const phoenixnapDialect = withProvider(phoenixnapMetal, (settings, { tuning }) => {
  const { clientId, apiKey, baseUrl, authUrl, location, peerAsn, createPeerGroup: createsPeerGroup } = settings
  return {
    client: phoenixnap({ clientId, apiKey, baseUrl, authUrl, location, peerAsn, createsPeerGroup, ...tuning }),
    providerIds: { scheme: 'phoenixnap', older: [], id: /^[0-9a-f]{24}$/ },
    bgp: { project: { asn: settings.localAsn, password: settings.bgpPass }, selector: settings.bgpNodeSelector },
    project: { id: 'phoenixnap', setting: placesText(phoenixnapMetal.rows.clientId), isOfToken: true },
    policy: { locationSettings: [{ kind: 'setting', word: 'location', name: 'PNAP_LOCATION', value: location }] },
  }
})
