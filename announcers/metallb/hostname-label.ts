/** The label by which MetalLB finds the node of a peer. */
export const hostnameLabel = 'kubernetes.io/hostname'
