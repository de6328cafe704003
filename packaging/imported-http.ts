// In the bundle this takes the place of node:http where a package imports it. If a package needs another export one day, the
// bundle cannot be built.
import { nodeHttp } from '../lib/node-http.ts'

// oxlint-disable-next-line import/no-default-export -- packages import it so
export default nodeHttp
export const { Agent, STATUS_CODES } = nodeHttp
