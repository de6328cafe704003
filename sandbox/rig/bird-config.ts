import type { Provider } from './providers.ts'

export type RouterConfig = {
  address: string
  provider: Provider
  password?: string | undefined
  /** The interface behind which each machine is; all are behind the interface `routers` when absent. */
  cables?: ReadonlyMap<string, string> | undefined
  log: string
}

/**
 * Returns the BIRD configuration of a provider's router: it learns single addresses from every machine that has the
 * password. After a broken connection it accepts the machine again in seconds, while BIRD's default is minutes.
 */
export function birdConfig({ address, provider, password, cables, log }: RouterConfig): string {
  const { asn, machines } = provider
  return `
log "${log}" all;
timeformat log iso long ms;
router id ${address};
protocol device { scan time 5; }
${cables ? `protocol static { ipv4; ${staticRoutes(cables)} }` : 'protocol direct { ipv4; interface "routers"; }'}
protocol kernel {
  metric ${address.split('.').at(-1)};
  merge paths on;
  ipv4 { import none; export where source = RTS_BGP; };
}
filter single_addresses {
  if net.len = 32 && bgp_path.len = 1 && bgp_path.first = ${machines.asn} then accept;
  reject;
}
protocol bgp machines {
  debug { routes };
  strict bind yes;
  local ${address} as ${asn};
  neighbor range ${machines.network} as ${machines.asn};
  dynamic name "machine";
  passive yes;
  error wait time 1, 3;
  multihop 2;
  ${password === undefined ? '' : `password "${password}";`}
  ipv4 { import filter single_addresses; export none; };
}
`
}

function staticRoutes(cables: ReadonlyMap<string, string>): string {
  return [...cables].map(([machine, cable]) => `route ${machine}/32 via "${cable}";`).join(' ')
}
