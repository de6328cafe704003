import { join } from 'node:path'

export type Ports = { etcd: number; peer: number; api: number }

export function etcdArgs(dir: string, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`
  const peer = `http://127.0.0.1:${ports.peer}`
  return [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
  ]
}

export function apiserverArgs(dir: string, ports: Ports): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.api}`,
    // An unused address (RFC 5737): it may not be a loopback address, and with the reconciler off nothing publishes it.
    '--advertise-address=192.0.2.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${join(dir, 'certs')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(dir, 'sa.key')}`,
    `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
    '--disable-admission-plugins=ServiceAccount',
  ]
}

export function controllerManagerArgs(kubeconfig: string, controllers: string[]): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--authentication-kubeconfig=',
    '--authorization-kubeconfig=',
    '--leader-elect=false',
    '--secure-port=0',
    `--controllers=${controllers.join(',')}`,
  ]
}
