/** Annotations by which a Service asks MetalLB for an address; the second one is how it was called up to 0.14. */
export const metallbRequestAnnotations = ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs']

/** The annotation by which a Service asks kube-vip for an address. */
export const kubeVipRequestAnnotation = 'kube-vip.io/loadbalancerIPs'

/** Annotations by which a Service chooses an address pool of MetalLB, in the order in which we write them. */
export const metallbPoolAnnotations = ['metallb.universe.tf/address-pool', 'metallb.io/address-pool']
