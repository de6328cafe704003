/** The form of a machine id at Equinix Metal, in both dialects. */
export const machineId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** How many addresses the routers accept from a node: max_prefix of the project, which only the vendor's support changes. */
export const maxPrefixes = 10
