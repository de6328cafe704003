import type { Reading } from '../settings/setting.ts'

/** How we write BGPPeers: for MetalLB's own BGP, for MetalLB with FRR in all its forms, or not at all. */
export type PeerMode = 'native' | 'frr' | 'none'

/** Which software announces the addresses of Services, and how we configure it. */
export type LoadBalancer =
  | { kind: 'none' }
  | { kind: 'metallb-configmap'; namespace: string; name: string }
  | { kind: 'metallb-crd'; namespace: string; peerMode: PeerMode }
  /** The setting chooses neither ConfigMap nor custom resources: we use the one that the cluster has. */
  | { kind: 'metallb'; namespace: string; name: string; peerMode: PeerMode }
  /** `secretsNamespace` is where Cilium reads the Secrets of its BGP sessions. */
  | { kind: 'cilium'; secretsNamespace: string }
  /** `namespace` is calico-node's. */
  | { kind: 'calico'; namespace: string }
  | { kind: 'kube-vip' }
  /** `isProbed`: we also probe the nodes ourselves, besides what Kubernetes reports. */
  | { kind: 'assign'; isProbed: boolean }
  | { kind: 'empty'; ipAnnotation: string | undefined }
  | ManagedLoadBalancer

/** The provider's managed load balancers: the scheme that chose them, and where new ones are created. */
export type ManagedLoadBalancer = { kind: 'managed'; scheme: string; location: string }

/**
 * How traffic for an address finds its node: through the nodes' BGP sessions, or because the provider assigns the
 * address to a machine.
 */
export type Reach = 'bgp' | 'assignment'

/** The configured choice, for people. */
export function nameOfChoice(chosen: LoadBalancer): string {
  return chosen.kind === 'managed' ? chosen.scheme : chosen.kind
}

/** How the load balancer setting differs between dialects. */
export type LoadBalancerDialect = {
  /** The provider's offers to announcing software; everything by default. */
  offers?: readonly Reach[]
  /** The meaning of `metallb:///<namespace>/` when no name follows. */
  namespaceAlone: 'crd' | 'undecided'
  /** The schemes of the provider's managed load balancers. */
  managed?: Readonly<Record<string, LoadBalancerScheme>>
  /** The annotation into which `empty://` writes the address of a Service when the URL names none. */
  ipAnnotation?: string
}

/** The path and the parameters of a load balancer setting. */
export type Parts = { path: string[]; parameters: Record<string, string | undefined> }

/** A scheme of the load balancer setting: how it is written, what it means, and how its URL is read. */
export type LoadBalancerScheme = {
  written: string
  meaning: string
  parameters: readonly string[]
  depth: number
  read: (parts: Parts, dialect: LoadBalancerDialect) => Reading<LoadBalancer>
}

/** The namespace in which the announcing software reads the Secret of its BGP sessions, if the setting names it. */
export function secretNamespaceOf(loadBalancer: LoadBalancer | undefined): string | undefined {
  if (!loadBalancer) return undefined
  if ('secretsNamespace' in loadBalancer) return loadBalancer.secretsNamespace
  return 'namespace' in loadBalancer ? loadBalancer.namespace : undefined
}

/**
 * The load balancer setting in a form that every dialect and command reads, for software with objects in a namespace;
 * undefined for other software.
 */
export function placedText(chosen: LoadBalancer): string | undefined {
  if (chosen.kind === 'cilium') return `cilium:///${chosen.secretsNamespace}`
  if (!('namespace' in chosen)) return undefined
  const { kind, namespace } = chosen
  if (kind === 'calico') return `calico:///${namespace}`
  if (kind === 'metallb-configmap') return `metallb:///${namespace}/${chosen.name}`
  if (kind === 'metallb') return `metallb:///${namespace}/${chosen.name}?bgp-peer-mode=${chosen.peerMode}`
  const mode = chosen.peerMode === 'native' ? '' : `&bgp-peer-mode=${chosen.peerMode}`
  return `metallb:///${namespace}?crdConfiguration=true${mode}`
}
