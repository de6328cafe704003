// The DNS of a cluster, as far as its pods ask for the names of Services that have a cluster IP.
import { type Socket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { AUTHORITATIVE_ANSWER, type Packet, RECURSION_AVAILABLE, RECURSION_DESIRED, decode, encode } from 'dns-packet'
import type { Cluster } from '../cluster/cluster.ts'
import { cloudAddress } from '../control-planes/network.ts'
import { administratorWith } from '../rig/administrator.ts'

/** Answers at the address that kubelet writes into every pod, until this process ends. */
export async function serveNames({ kubectl }: Cluster): Promise<void> {
  const addressOf = async (name: string) => {
    const [, service = '', namespace = ''] = /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/i.exec(name) ?? []
    if (service === '') return undefined
    const get = ['get', 'service', service, '--namespace', namespace, '-o', 'jsonpath={.spec.clusterIP}']
    const { code, stdout } = await kubectl(get)
    return code === 0 ? stdout : undefined
  }
  await openNameServer(addressOf, { port: 53, address: cloudAddress })
  await administratorWith(kubectl).apply({ apiVersion: 'v1', kind: 'List', items: [service, endpoints] })
}

/** Opens a server that knows the IPv4 addresses of names, and returns its socket. */
export async function openNameServer(
  addressOf: (name: string) => Promise<string | undefined>,
  at: { port: number; address: string },
): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const query = decode(message)
    void addressOf(query.questions?.[0]?.name ?? '').then((found) => socket.send(answer(query, found), port, address))
  })
  socket.bind(at)
  await once(socket, 'listening')
  return socket
}

/** The code of an answer about a name that does not exist. */
const nameError = 3

function answer({ id, questions = [] }: Packet, address: string | undefined): Buffer {
  const flags = AUTHORITATIVE_ANSWER | RECURSION_DESIRED | RECURSION_AVAILABLE | (address === undefined ? nameError : 0)
  const answers = questions.flatMap(({ name, type }) =>
    address !== undefined && type === 'A' ? [{ type, name, ttl: 5, data: address }] : [],
  )
  return encode({ id, type: 'response', flags, questions, answers })
}

const metadata = { name: 'kube-dns', namespace: 'kube-system' }
const port = { name: 'dns', port: 53, protocol: 'UDP' }
const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: '10.96.0.10', ports: [port] } }
const endpoints = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'kube-dns' } },
  addressType: 'IPv4',
  endpoints: [{ addresses: [cloudAddress] }],
  ports: [port],
}
