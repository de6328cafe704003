import { readWholeNumber, runCloud } from '../run-cloud.ts'
import { cherryServersHosts, startCherryServers } from './server.ts'

await runCloud({
  path: 'sandbox/clouds/cherry-servers/main.ts',
  help: {
    project: 'number of a project; may be repeated; without it there is project 218450',
    device: 'a server in the first project, in region PLACE or LT-Siauliai; may be repeated',
    more: '  --call-limit N            how many calls a client may send in a second; the vendor documents 4\n',
  },
  readProject: (text) => readWholeNumber('project', text),
  defaultProject: 218_450,
  numbers: ['call-limit'],
  hosts: cherryServersHosts,
  start: ({ projects, devices, ...given }, { 'call-limit': calls }) =>
    startCherryServers({
      ...given,
      projects: projects.map((id) => ({ id })),
      servers: devices.map(({ hostname, place = 'LT-Siauliai' }) => ({ hostname, region: place })),
      ...(calls !== undefined && { callLimit: { calls, perMs: 1000 } }),
    }),
})
