import type { Announcer } from '../announcers/announcer.ts'
import { external } from '../announcers/external.ts'
import { empty } from '../announcers/empty.ts'
import { kubeVip } from '../announcers/kube-vip.ts'
import { metallb } from '../announcers/metallb.ts'
import { metallbDocument } from '../announcers/metallb/document.ts'
import { metallbObjects } from '../announcers/metallb/objects.ts'
import { ipAddressPools } from '../announcers/metallb/resources.ts'
import type { KubeClient } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import { configMaps } from '../kube/resource.ts'
import { names } from '../manifests/names.ts'
import { retryUntilAnswered } from './retry-until-answered.ts'
import type { LoadBalancer } from './settings/load-balancer.ts'
import { SettingsError } from './settings/problems.ts'

/** How MetalLB's objects of a dialect were marked by its predecessor. */
export type AnnouncerMarks = {
  label: { name: string; value: string }
  advertisement: string
  /** The domain of the labels by which a peer in a ConfigMap counts its Services. */
  counting: string
}

type Tools = { client: KubeClient; marks: AnnouncerMarks; log: Log; signal: AbortSignal }

/** The announcer that the load balancer setting names. It refuses a choice that this version lacks if it would cost money. */
export async function announcerOf(loadBalancer: LoadBalancer, tools: Tools): Promise<Announcer> {
  const choice = { what: 'the API server', log: tools.log, signal: tools.signal }
  const chosen =
    loadBalancer.kind === 'metallb'
      ? await retryUntilAnswered(() => chosenBy(loadBalancer, tools), choice)
      : loadBalancer
  const { label, advertisement, counting } = tools.marks
  switch (chosen.kind) {
    case 'none':
      return external('none')
    case 'empty':
      return empty({ ipAnnotation: chosen.ipAnnotation })
    case 'kube-vip':
      return kubeVip()
    case 'metallb-crd': {
      const { namespace, peerMode } = chosen
      return metallb(metallbObjects({ namespace, peerMode, label, advertisement, passwordSecret: names.bgpSecret }))
    }
    case 'metallb-configmap':
      return metallb(metallbDocument({ namespace: chosen.namespace, name: chosen.name, counting }))
    case 'emlb': {
      const wrong = 'managed load balancers are not in this version, and we would buy Elastic IPs instead'
      throw new SettingsError([{ setting: 'load balancer', wrong, right: 'leave it unset, or choose another one' }])
    }
  }
}

type Undecided = Extract<LoadBalancer, { kind: 'metallb' }>
type Decided = Extract<LoadBalancer, { kind: 'metallb-crd' | 'metallb-configmap' }>

/** What MetalLB reads in this cluster: custom resources if they exist, because a ConfigMap may be left over. */
async function chosenBy({ namespace, name, peerMode }: Undecided, { client, log, signal }: Tools): Promise<Decided> {
  const choose = (decided: Decided, reason: string): Decided => {
    log.info({ chosen: decided.kind, reason }, 'chosen how to configure MetalLB')
    return decided
  }
  const objects: Decided = { kind: 'metallb-crd', namespace, peerMode }
  if (await hasPools(client, namespace, signal)) return choose(objects, 'the cluster has its custom resources')
  if (await client.get(configMaps, { namespace, name }, { signal })) {
    return choose({ kind: 'metallb-configmap', namespace, name }, `there is a ConfigMap ${namespace}/${name}`)
  }
  return choose(objects, `there are neither custom resources nor a ConfigMap ${namespace}/${name} yet`)
}

async function hasPools(client: KubeClient, namespace: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(ipAddressPools, { namespace, limit: 1, signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
