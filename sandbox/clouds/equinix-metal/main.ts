import { randomUUID } from 'node:crypto'
import { runCloud } from '../run-cloud.ts'
import { equinixMetalHosts, startEquinixMetal } from './server.ts'

await runCloud({
  path: 'sandbox/clouds/equinix-metal/main.ts',
  help: {
    project: 'UUID of a project; may be repeated; without it there is one project with a new id',
    device: 'a device in the first project, in metro PLACE or da; may be repeated',
  },
  readProject: String,
  defaultProject: randomUUID(),
  hosts: equinixMetalHosts,
  start: ({ projects, devices, ...given }) => {
    const servers = devices.map(({ hostname, place = 'da' }) => ({ hostname, metro: place }))
    return startEquinixMetal({ ...given, projects: projects.map((id) => ({ id })), servers })
  },
})
