// In the bundle this replaces node:http if a package imports it. If a package ever needs another export, the build
// fails.
import { nodeHttp } from '../lib/node-http.ts'

// oxlint-disable-next-line import/no-default-export -- packages import it so
export default nodeHttp
export const { Agent, STATUS_CODES } = nodeHttp
