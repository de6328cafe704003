import { cherryServersProvider } from './cherry-servers/provider.ts'
import type { CloudTools } from './dialect/provider-parts.ts'
import { equinixMetalProvider } from './equinix-metal/provider.ts'
import { packetProvider } from './equinix-metal/packet/provider.ts'
import type { CloudSettings } from './dialects.ts'
import type { CloudProvider } from './ports/cloud-provider.ts'

/** Makes the cloud provider of a dialect. */
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
