import { cherryServersProvider } from './clouds/cherry-servers.ts'
import type { CloudProvider, CloudTools } from './clouds/cloud-provider.ts'
import { equinixMetalProvider } from './clouds/equinix-metal.ts'
import { packetProvider } from './clouds/packet.ts'
import type { CloudSettings } from './settings/dialects.ts'

/** Makes the cloud provider of a dialect. No other file knows all clouds. */
export async function makeCloudProvider(cloud: CloudSettings, tools: CloudTools): Promise<CloudProvider> {
  switch (cloud.dialect) {
    case 'equinix-metal':
      return equinixMetalProvider(cloud.settings, tools)
    case 'packet':
      return packetProvider(cloud.settings, tools)
    case 'cherry-servers':
      return cherryServersProvider(cloud.settings, tools)
  }
}
