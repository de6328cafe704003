/** The only class that we use of a library of 17 MB, so that a bundle can leave out the rest. */
export { KubeConfig } from '@kubernetes/client-node'
