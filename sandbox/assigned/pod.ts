// node pod.ts <name> <address> <port>: the only program of a pod. It replies with its name and the client's address.
import { createServer } from 'node:http'

const [name = '', address = '', port = ''] = process.argv.slice(2)

createServer((request, response) => {
  response.setHeader('connection', 'close')
  response.end(JSON.stringify({ pod: name, client: request.socket.remoteAddress }))
}).listen(Number(port), address)
