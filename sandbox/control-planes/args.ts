/** The ports of every machine; each has a network of its own. */
export const ports = { etcd: 2379, peer: 2380, api: 6443 }

/** A machine of the cluster, and the folder of its data and certificates. */
export type Member = { name: string; address: string; dir: string }

const peerUrl = ({ address }: Member) => `http://${address}:${ports.peer}`

/** Returns the flags of a machine's etcd, one member of the cluster's. */
export function etcdArgs(member: Member, members: Member[]): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`
  return [
    `--name=${member.name}`,
    `--data-dir=${member.dir}/etcd`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peerUrl(member)}`,
    `--initial-advertise-peer-urls=${peerUrl(member)}`,
    `--initial-cluster=${members.map((one) => `${one.name}=${peerUrl(one)}`).join(',')}`,
    '--unsafe-no-fsync',
  ]
}

/** Returns the flags of a machine's API server, which uses its own etcd only, as kubeadm sets it up. */
export function apiServerArgs({ address, dir }: Member, shared: { dir: string; bind?: string }): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--bind-address=${shared.bind ?? '0.0.0.0'}`,
    `--secure-port=${ports.api}`,
    `--advertise-address=${address}`,
    `--tls-cert-file=${dir}/api-server.crt`,
    `--tls-private-key-file=${dir}/api-server.key`,
    '--service-cluster-ip-range=10.96.0.0/16',
    `--token-auth-file=${shared.dir}/tokens.csv`,
  ]
}
