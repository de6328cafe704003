import type { Condition, KubeObject } from './objects.ts'
import { resourcesOf } from './resource.ts'

/** A schema of a custom resource, as far as we look into it. */
export type Schema = {
  format?: string
  maximum?: number
  properties?: Record<string, Schema | undefined>
  items?: Schema
}

/** A CustomResourceDefinition, as far as we look into it. */
export type Definition = KubeObject & {
  spec?: {
    group?: string
    scope?: string
    names?: { kind?: string; plural?: string }
    versions?: { name: string; served?: boolean; schema?: { openAPIV3Schema?: Schema } }[]
  }
  status?: { conditions?: Pick<Condition, 'type' | 'status'>[] }
}

export const definitions = resourcesOf('apiextensions.k8s.io/v1').ofCluster<Definition>('CustomResourceDefinition')
