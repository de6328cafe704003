// A node of a cluster: containerd, kubelet and kube-proxy in mount, process and host name namespaces of its own.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Child, startChild } from '../child.ts'
import type { Network } from '../control-planes/network.ts'
import type { Program } from '../control-planes/program.ts'
import { proxyArgs } from '../rig/kube-proxy.ts'
import { makeGroups, removeGroups } from './cgroups.ts'
import { endAll } from './control-plane.ts'
import { type ClusterPrograms, webImage } from './programs.ts'

export type NodeOptions = {
  name: string
  address: string
  podRange: string
  /** The programs of its control plane, which may run already. */
  controlPlane: Program[]
  /** The folders of the cluster and of this node's data. */
  dir: string
  own: string
  kubeconfigs: { kubelet: string; proxy: string }
  programs: ClusterPrograms
  /** The environment of the programs. */
  env: NodeJS.ProcessEnv
  network: Network
}

/** A node whose programs start and end with its power. */
export type ClusterNode = {
  name: string
  address: string
  powerOn(): Promise<void>
  /** Ends everything at once, as a power failure does. Packets for it are lost. */
  powerOff(): Promise<void>
  /** Ends its kubelet, which starts again. */
  restartKubelet(): void
  /** Cuts its network, or restores it; its programs keep running. */
  setLink(to: 'up' | 'down'): Promise<void>
  /** Gives pods a network, without which the node stays NotReady. */
  addPodNetwork(): Promise<void>
}

/** Makes a node that is powered off. */
export function makeNode(options: NodeOptions): ClusterNode {
  const { name, address, network, own, podRange, controlPlane } = options
  const folder = (at: string) => join(own, at)
  for (const at of ['kubelet', 'containerd', 'plugins.d', 'etc', 'logs']) mkdirSync(folder(at), { recursive: true })
  writeFileSync(folder('etc/kubelet.json'), JSON.stringify(kubeletConfiguration(options)))
  writeFileSync(folder('etc/containerd.toml'), containerdConfiguration(options))
  writeFileSync(folder('etc/resolv.conf'), 'nameserver 127.0.0.1\n')
  writeFileSync(folder('etc/start.sh'), startScript(options))
  let child: Child | undefined
  return {
    name,
    address,
    async powerOn() {
      makeGroups(groupOf(options))
      await network.setLink(name, 'up')
      for (const program of controlPlane) await program.start()
      // `ip netns exec` would mount another /sys, without the control groups.
      const inNetwork = ['nsenter', `--net=/run/netns/${name}`]
      const isolated = ['unshare', '-m', '-p', '-u', '-i', '-f', '--kill-child', 'sh', folder('etc/start.sh')]
      const { env } = options
      child = startChild([...inNetwork, ...isolated], { logFile: folder('logs/node.log'), env })
    },
    async powerOff() {
      await network.setLink(name, 'down')
      await Promise.all([child?.stop('SIGKILL'), endAll(controlPlane)])
      await removeGroups(groupOf(options))
    },
    restartKubelet() {
      for (const pid of kubeletsOf(options)) process.kill(pid, 'SIGKILL')
    },
    setLink: (to) => network.setLink(name, to),
    async addPodNetwork() {
      writeFileSync(folder('plugins.d/10-pods.conflist'), JSON.stringify(podNetwork(podRange, own)))
      await network.route(podRange, name)
    },
  }
}

/** The kubelet of a node, as this process sees it: the script that started it sees another process id. */
function kubeletsOf({ own, programs }: NodeOptions): number[] {
  const command = [join(programs.node, 'kubelet'), `--config=${own}/etc/kubelet.json`].join('\0')
  return globSync('/proc/[0-9]*').flatMap((folder) =>
    readOrEmpty(`${folder}/cmdline`).startsWith(command) ? Number(basename(folder)) : [],
  )
}

/** The file disappears when its process ends. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The control group of a node, unique across clusters: kubelet kills processes in its group that it does not know. */
export const groupOf = ({ dir, name }: { dir: string; name: string }) => `${basename(dir)}-${name}`

function kubeletConfiguration({ own, dir, name, controlPlane }: NodeOptions): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // The API server shows no client certificate when a person reads logs or runs a command in a pod.
    authentication: {
      anonymous: { enabled: true },
      webhook: { enabled: false },
      x509: { clientCAFile: join(dir, 'ca.crt') },
    },
    authorization: { mode: 'AlwaysAllow' },
    tlsCertFile: join(own, 'api-server.crt'),
    tlsPrivateKeyFile: join(own, 'api-server.key'),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${groupOf({ dir, name })}`,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDomain: 'cluster.local',
    clusterDNS: ['10.96.0.10'],
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    enforceNodeAllocatable: [],
    resolvConf: join(own, 'etc/resolv.conf'),
    // Lowering an OOM score needs a capability that containers rarely have.
    featureGates: { KubeletInUserNamespace: true },
    ...(controlPlane.length > 0 && {
      registerWithTaints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    }),
  }
}

function containerdConfiguration({ own, programs }: NodeOptions): string {
  const cri = "plugins.'io.containerd.cri.v1.runtime'"
  return `version = 3
root = "${own}/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${webImage}"
[${cri}]
  restrict_oom_score_adj = true
  disable_apparmor = true
  [${cri}.containerd]
    default_runtime_name = "runc"
    [${cri}.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [${cri}.containerd.runtimes.runc.options]
        BinaryName = "${programs.runc}"
        SystemdCgroup = false
  [${cri}.cni]
    bin_dirs = ["${programs.plugins}"]
    conf_dir = "${own}/plugins.d"
`
}

/** kubelet would write these files; the machine keeps its own values. */
const kernelFiles = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
]

function startScript({ name, address, own, kubeconfigs, programs }: NodeOptions): string {
  const kubelet = [
    join(programs.node, 'kubelet'),
    `--config=${own}/etc/kubelet.json`,
    `--kubeconfig=${kubeconfigs.kubelet}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    '--cloud-provider=external',
    `--root-dir=${own}/kubelet`,
  ]
  const proxy = [programs.proxy, ...proxyArgs({ kubeconfig: kubeconfigs.proxy, node: name, mode: 'nftables' })]
  // A node unpacks an image only when a pod needs it, because most nodes run few images.
  const imports = programs.images.map(
    (file) => `ctr --namespace k8s.io images import --local --no-unpack ${file} & imports="$imports $!"`,
  )
  return `set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
for file in ${kernelFiles.join(' ')}; do
  if [ -e /proc/sys/$file ]; then
    copy=${own}/etc/$(basename $file)
    cat /proc/sys/$file > $copy && mount --bind $copy /proc/sys/$file
  fi
done
mount --make-rshared /
hostname ${name}
# Every installer of Kubernetes demands it; here only the first pod network would set it.
echo 1 > /proc/sys/net/ipv4/ip_forward
containerd --config ${own}/etc/containerd.toml > ${own}/logs/containerd.log 2>&1 &
until ctr version > /dev/null 2>&1; do sleep 0.2; done
${imports.join('\n')}
for import in $imports; do wait $import; done
${proxy.join(' ')} > ${own}/logs/kube-proxy.log 2>&1 &
while :; do
  ${kubelet.join(' ')} >> ${own}/logs/kubelet.log 2>&1 || true
  sleep 1
done
`
}

function podNetwork(subnet: string, own: string): object {
  const bridge = {
    type: 'bridge',
    bridge: 'pods',
    isGateway: true,
    hairpinMode: true,
    ipam: { type: 'host-local', dataDir: `${own}/addresses`, ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }] },
  }
  return { cniVersion: '1.0.0', name: 'pods', plugins: [bridge] }
}
