/** The name of a pool that does not exist: a Service that requests it gets no address from MetalLB. */
export const unusedPoolName = 'disabled-metallb-do-not-use-any-address-pool'
