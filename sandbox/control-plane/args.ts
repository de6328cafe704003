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

/** `serviceRanges`: one, or one of each family, the primary first. */
export function apiserverArgs(dir: string, ports: Ports, serviceRanges = ['10.96.0.0/16']): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.api}`,
    // An unused address (RFC 5737, 3849) of the primary family: it may not be a loopback address, and with the reconciler
    // off nothing publishes it.
    `--advertise-address=${serviceRanges[0]?.includes(':') ? '2001:db8::1' : '192.0.2.1'}`,
    '--endpoint-reconciler-type=none',
    `--cert-dir=${join(dir, 'certs')}`,
    `--service-cluster-ip-range=${serviceRanges.join(',')}`,
    // No kube-proxy runs here: the API server calls the endpoints of a Service, not its cluster IP.
    '--enable-aggregator-routing=true',
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
