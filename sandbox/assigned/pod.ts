// node pod.ts <name> <address> <port>: answers who it is and who asks, as the only program of a pod.
import { createServer } from 'node:http'

const [name = '', address = '', port = ''] = process.argv.slice(2)

createServer((request, response) => {
  response.setHeader('connection', 'close')
  response.end(JSON.stringify({ pod: name, client: request.socket.remoteAddress }))
}).listen(Number(port), address)
