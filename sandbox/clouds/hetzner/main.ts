import { readWholeNumber, runCloud } from '../run-cloud.ts'
import { hetznerHosts, startHetzner } from './server.ts'

await runCloud({
  path: 'sandbox/clouds/hetzner/main.ts',
  help: {
    project: 'number of a project; may be repeated; without it there is project 1; the API shows none',
    device: 'a server in the first project, in location PLACE or fsn1; may be repeated',
    more: '  --action-ms N             how long assigning takes; one to three seconds without it\n',
  },
  readProject: (text) => readWholeNumber('project', text),
  defaultProject: 1,
  numbers: ['action-ms'],
  hosts: hetznerHosts,
  start: ({ devices, ...given }, { 'action-ms': actionMs }) =>
    startHetzner({
      ...given,
      servers: devices.map(({ hostname, place = 'fsn1' }) => ({ hostname, location: place })),
      ...(actionMs !== undefined && { actionMs }),
    }),
})
