import type { Annotation } from '../lib/annotation.ts'
import {
  kubeVipRequestAnnotation,
  metallbPoolAnnotations,
  metallbRequestAnnotations,
  metallbSharingAnnotations,
} from './request-annotations.ts'

const [metallbRequest = '', metallbOldRequest = ''] = metallbRequestAnnotations

/** Annotations of the announcing software that a Service may carry. */
export const announcerAnnotations: readonly Annotation[] = [
  {
    name: metallbRequest,
    on: 'Service',
    writers: ['user'],
    values: 'an IP address',
    sentence: 'Requests an own address from MetalLB. MetalLB refuses it beside `spec.loadBalancerIP`.',
  },
  {
    name: metallbOldRequest,
    on: 'Service',
    writers: ['user'],
    values: 'an IP address',
    sentence: 'The name of the same annotation up to MetalLB 0.14.',
  },
  ...metallbPoolAnnotations.map((name): Annotation => ({
    name,
    on: 'Service',
    writers: ['user', 'eip-admission'],
    values: 'the name of an address pool',
    sentence:
      'Chooses the pool of the address. eip-admission writes a pool that does not exist, so that MetalLB withdraws the address.',
  })),
  {
    name: kubeVipRequestAnnotation,
    on: 'Service',
    writers: ['user'],
    values: 'an IP address',
    sentence:
      'Requests an own address from kube-vip. eip-admission never adds it, because kube-vip 1.2 would then withdraw the address; it removes it with the address.',
  },
  ...metallbSharingAnnotations.map((name): Annotation => ({
    name,
    on: 'Service',
    writers: ['user'],
    values: 'any text',
    sentence: 'Services with the same text may share an address at MetalLB. `takeover plan` does not warn of these.',
  })),
]
