/** The annotations by which a Service requests an address from MetalLB: the current name, and the one until 0.14. */
export const metallbRequestAnnotations = ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs']

/** Annotations by which a Service chooses an address pool of MetalLB, in the order in which we write them. */
export const metallbPoolAnnotations = ['metallb.universe.tf/address-pool', 'metallb.io/address-pool']

/** Annotations by which Services share an address in MetalLB: the current name, and the one until 0.14. */
export const metallbSharingAnnotations = ['metallb.io/allow-shared-ip', 'metallb.universe.tf/allow-shared-ip']

/** The name of a pool that does not exist, so MetalLB gives no address to a Service that requests it. */
export const unusedPoolName = 'disabled-metallb-do-not-use-any-address-pool'
