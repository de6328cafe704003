import { runCloud } from '../run-cloud.ts'
import { phoenixnapHosts, startPhoenixnap } from './server.ts'

await runCloud({
  path: 'sandbox/clouds/phoenixnap/main.ts',
  help: {
    project: 'client id of an account; may be repeated; without it there is one that the first line names',
    device: 'a server in the first account, in location PLACE or PHX; may be repeated',
    more: `  --change-ms N             how long the changes of blocks and peer groups take; 0 without it
  --token-seconds N         how long an access token is valid; 300 without it

A token is the secret of a client: an access token is granted for it.
`,
  },
  readProject: String,
  defaultProject: '11111111-1111-4111-8111-111111111111',
  numbers: ['change-ms', 'token-seconds'],
  hosts: phoenixnapHosts,
  start: ({ devices, ...given }, { 'change-ms': changeMs = 0, 'token-seconds': tokenSeconds = 300 }) => {
    const servers = devices.map(({ hostname, place = 'PHX' }) => ({ hostname, location: place }))
    return startPhoenixnap({ ...given, servers, changeMs, tokenSeconds })
  },
})
