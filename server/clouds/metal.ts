/** The id of a machine of Equinix Metal, whatever the dialect. */
export const machineId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Addresses that its routers take from a node: max_prefix of the project, which only the vendor's support changes. */
export const maxPrefixes = 10
