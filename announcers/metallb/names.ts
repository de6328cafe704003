/** The annotations by which a Service requests an address from MetalLB; the second is the name until 0.14. */
export const metallbRequestAnnotations = ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs']

/** Annotations by which a Service chooses an address pool of MetalLB, in the order in which we write them. */
export const metallbPoolAnnotations = ['metallb.universe.tf/address-pool', 'metallb.io/address-pool']

/** Annotations by which Services share an address of MetalLB, by its name now and until 0.14. */
export const metallbSharingAnnotations = ['metallb.io/allow-shared-ip', 'metallb.universe.tf/allow-shared-ip']

/** The name of a pool that does not exist: a Service that requests it gets no address from MetalLB. */
export const unusedPoolName = 'disabled-metallb-do-not-use-any-address-pool'
