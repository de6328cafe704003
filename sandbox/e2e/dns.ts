// The DNS of a cluster, as far as its pods ask for the names of Services that have a cluster IP.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Cluster } from '../cluster/cluster.ts'
import { cloudAddress } from '../control-planes/network.ts'
import { administratorWith } from '../rig/administrator.ts'

/** Answers at the address that kubelet writes into every pod, until this process ends. */
export async function serveNames({ kubectl }: Cluster): Promise<void> {
  const addressOf = async (name: string) => {
    const [, service = '', namespace = ''] = /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/.exec(name) ?? []
    if (service === '') return undefined
    const get = ['get', 'service', service, '--namespace', namespace, '-o', 'jsonpath={.spec.clusterIP}']
    const { code, stdout } = await kubectl(get)
    return code === 0 ? stdout : undefined
  }
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    void addressOf(nameIn(query)).then((found) => socket.send(answer(query, found), port, address))
  })
  socket.bind(53, cloudAddress)
  await once(socket, 'listening')
  await administratorWith(kubectl).apply({ apiVersion: 'v1', kind: 'List', items: [service, endpoints] })
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

/** A message of RFC 1035 has its question behind 12 bytes: labels, each behind its length, to an empty one. */
function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12, length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return labels.join('.').toLowerCase()
}

/** The question again with its address; without one the name does not exist. Only IPv4 addresses are there. */
function answer(query: Buffer, address: string | undefined): Buffer {
  const end = query.indexOf(0, 12) + 5
  const isForIpv4 = query.readUInt16BE(end - 4) === 1
  const record = address !== undefined && isForIpv4 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...octets(address)] : []
  const head = Buffer.from(query.subarray(0, 12))
  head.writeUInt16BE(address === undefined ? 0x8583 : 0x8580, 2)
  for (const [at, count] of [1, record.length > 0 ? 1 : 0, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at)
  return Buffer.concat([head, query.subarray(12, end), Buffer.from(record)])
}

const octets = (address: string) => address.split('.').map(Number)
