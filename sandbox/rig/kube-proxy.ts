import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { kubeProxyProgram } from '../control-plane/build.ts'
import { debianPackage } from './debian-package.ts'

/** How kube-proxy makes the kernel forward packets. IPVS is left out, because a kernel may lack it. */
export type ProxyMode = 'nftables' | 'iptables'

/** kube-proxy, and the environment in which it finds `nft`, `iptables` and similar tools. */
export type ProxyPrograms = { program: string; env: (dir: string) => NodeJS.ProcessEnv }

const tables = 'usr/sbin/xtables-nft-multi'
const nft = 'usr/sbin/nft'

/** Builds kube-proxy, and finds or downloads what it runs. */
export async function proxyPrograms(): Promise<ProxyPrograms> {
  const program = await kubeProxyProgram()
  const [iptables, nftables] = [await debianPackage('iptables', tables), await debianPackage('nftables', nft)]
  const libraries = [iptables, nftables].flatMap(({ env }) => env['LD_LIBRARY_PATH'] ?? [])
  return {
    program,
    env(dir) {
      const folder = join(dir, 'programs')
      mkdirSync(folder, { recursive: true })
      // Debian creates these names only when it installs the package.
      for (const name of ['iptables', 'ip6tables'])
        for (const verb of ['', '-save', '-restore'])
          symlinkSync(join(iptables.folder, tables), join(folder, `${name}${verb}`))
      symlinkSync(join(nftables.folder, nft), join(folder, 'nft'))
      return {
        ...process.env,
        PATH: [folder, process.env['PATH']].join(delimiter),
        ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(delimiter) }),
        ...(iptables.folder !== '/' && { XTABLES_LIBDIR: join(iptables.env['LD_LIBRARY_PATH'] ?? '', 'xtables') }),
      }
    },
  }
}

/**
 * The flags of kube-proxy on a node. The kernel's connection limits stay as they are: only the machine's root may set
 * them.
 */
export function proxyArgs(of: { kubeconfig: string; node: string; mode: ProxyMode }): string[] {
  return [
    `--kubeconfig=${of.kubeconfig}`,
    `--hostname-override=${of.node}`,
    `--proxy-mode=${of.mode}`,
    '--cluster-cidr=10.244.0.0/16',
    '--healthz-bind-address=127.0.0.1:10256',
    '--metrics-bind-address=127.0.0.1:10249',
    '--conntrack-max-per-core=0',
    '--conntrack-min=0',
    '--conntrack-tcp-timeout-established=0s',
    '--conntrack-tcp-timeout-close-wait=0s',
  ]
}
