// The predecessors as programs: how their manifests install them, and which binary of a machine is the real one.
import { join } from 'node:path'
import type { Predecessor } from '../announcers/predecessors.ts'
import type { DialectName } from '../../sandbox/dialects.ts'

export type PredecessorProgram = {
  dialect: Extract<DialectName, 'equinix-metal' | 'cherry-servers'>
  /** Which of its versions writes MetalLB's objects so. */
  writes: Predecessor
  /** The variable that names the real program; without it a stand-in runs. */
  variable: string
  image: string
  kind: 'Deployment' | 'DaemonSet'
  /** Its workload, and its container. */
  name: string
  /** Its service account. */
  account: string
  secret: string
  /** The name of its cloud in its flags. */
  provider: string
  /** Without it nothing keeps two programs apart. */
  leaderElect: boolean
  /** The setting of the location in its file, and of the software that announces. */
  settings: Record<string, string>
}

export const programs = {
  'CPEM 3.8': {
    dialect: 'equinix-metal',
    writes: 'CPEM 3.8',
    variable: 'CPEM_BIN',
    image: 'quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1',
    kind: 'DaemonSet',
    name: 'cloud-provider-equinix-metal',
    account: 'cloud-provider-equinix-metal',
    secret: 'metal-cloud-config',
    provider: 'equinixmetal',
    leaderElect: true,
    settings: { metro: 'da', loadbalancer: 'metallb:///metallb-system?crdConfiguration=true' },
  },
  'Cherry main': {
    dialect: 'cherry-servers',
    writes: 'Cherry main',
    variable: 'CHERRY_CCM_BIN',
    image: 'ghcr.io/cherryservers/cloud-provider-cherry:main',
    kind: 'Deployment',
    name: 'cloud-provider-cherry',
    account: 'cloud-controller-manager',
    secret: 'cherry-cloud-config',
    provider: 'cherryservers',
    leaderElect: false,
    settings: { region: 'LT-Siauliai', loadbalancer: 'metallb:///metallb-system/' },
  },
  'Cherry 1.35.2': {
    dialect: 'cherry-servers',
    writes: 'Cherry 1.35.2',
    variable: 'CHERRY_CCM_1_35_BIN',
    image: 'ghcr.io/cherryservers/cloud-provider-cherry:v1.35.2',
    kind: 'Deployment',
    name: 'cloud-provider-cherry',
    account: 'cloud-controller-manager',
    secret: 'cherry-cloud-config',
    provider: 'cherryservers',
    leaderElect: false,
    settings: { region: 'LT-Siauliai', loadbalancer: 'metallb:///metallb-system/' },
  },
} as const satisfies Record<string, PredecessorProgram>

/** The arguments of its container, as its manifest has them. */
export function argsOf({ provider, leaderElect }: PredecessorProgram): string[] {
  return [
    `--cloud-provider=${provider}`,
    `--leader-elect=${leaderElect}`,
    '--authentication-skip-lookup=true',
    '--cloud-config=/etc/cloud-sa/cloud-sa.json',
  ]
}

/** The program to start: the real program that a variable names, or the stand-in for it. */
export function commandOf(program: PredecessorProgram): { command: string[]; isReal: boolean } {
  const real = process.env[program.variable]
  if (real !== undefined) return { command: [real, '--secure-port=0', '--v=2'], isReal: true }
  const standIn = join(import.meta.dirname, 'stand-in', 'main.ts')
  return { command: [process.execPath, standIn, `--writes=${program.writes}`], isReal: false }
}
