/** The label of every object of MetalLB that we wrote or took over. A predecessor's has none of that name. */
export const managerLabel = 'app.kubernetes.io/managed-by'
