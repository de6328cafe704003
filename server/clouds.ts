import { cherryServersParts } from './clouds/cherry-servers.ts'
import type { CloudParts, CloudTools } from './clouds/cloud-parts.ts'
import { equinixMetalParts } from './clouds/equinix-metal.ts'
import { packetParts } from './clouds/packet.ts'
import type { CloudSettings } from './settings/dialects.ts'

/** The only place that knows all clouds: a dialect's settings, and what follows from them. */
export async function cloudParts(cloud: CloudSettings, tools: CloudTools): Promise<CloudParts> {
  switch (cloud.dialect) {
    case 'equinix-metal':
      return equinixMetalParts(cloud.settings, tools)
    case 'packet':
      return packetParts(cloud.settings, tools)
    case 'cherry-servers':
      return cherryServersParts(cloud.settings, tools)
  }
}
