/** No pool is called so: a Service that asks for it gets no address of MetalLB. */
export const noPool = 'disabled-metallb-do-not-use-any-address-pool'
