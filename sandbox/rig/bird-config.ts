export type RouterConfig = { address: string; localAsn: number; machinesAsn: number; password: string; log: string }

/** A router of the provider: it takes single addresses from any machine that knows the password, and tells nothing. */
export function birdConfig({ address, localAsn, machinesAsn, password, log }: RouterConfig): string {
  return `
log "${log}" all;
timeformat log iso long ms;
router id ${address};
protocol device { scan time 5; }
protocol direct { ipv4; interface "routers"; }
protocol kernel {
  metric ${address.split('.').at(-1)};
  merge paths on;
  ipv4 { import none; export where source = RTS_BGP; };
}
filter single_addresses {
  if net.len = 32 && bgp_path.len = 1 && bgp_path.first = ${machinesAsn} then accept;
  reject;
}
protocol bgp machines {
  debug { routes };
  strict bind yes;
  local ${address} as ${localAsn};
  neighbor range 10.0.0.0/8 as ${machinesAsn};
  dynamic name "machine";
  passive yes;
  multihop 2;
  password "${password}";
  ipv4 { import filter single_addresses; export none; };
}
`
}
