import { cherryServersProvider } from './clouds/cherry-servers.ts'
import type { CloudProvider, CloudTools } from './clouds/cloud-provider.ts'
import { equinixMetalProvider } from './clouds/equinix-metal.ts'
import { packetProvider } from './clouds/packet.ts'
import type { CloudSettings } from './settings/dialects.ts'

/** The only place that knows all clouds: a dialect's settings, and what follows from them. */
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
