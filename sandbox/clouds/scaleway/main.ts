import { runCloud } from '../run-cloud.ts'
import { scalewayHosts, startScaleway } from './server.ts'

await runCloud({
  path: 'sandbox/clouds/scaleway/main.ts',
  help: {
    project: 'id of a project; may be repeated; without it there is one that the first line names',
    device: 'a server in the first project, in zone PLACE or fr-par-1; may be repeated',
    more: '  --change-ms N             how long a server takes to attach or detach an address; 0 without it\n',
  },
  readProject: String,
  defaultProject: '11111111-1111-4111-8111-111111111111',
  numbers: ['change-ms'],
  hosts: scalewayHosts,
  start: ({ devices, ...given }, { 'change-ms': changeMs = 0 }) => {
    const servers = devices.map(({ hostname, place = 'fr-par-1' }) => ({ hostname, zone: place }))
    return startScaleway({ ...given, servers, changeMs })
  },
})
