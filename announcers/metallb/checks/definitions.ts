import { type KindDefinition, type SoftwareFacts, type SoftwareFinding, defineSoftwareCheck } from '../../check.ts'

/** From this version on the API server checks the formats of integers in custom resources. */
const checksFormatsFrom = 36
const maxInt32 = 2 ** 31 - 1

export const metallbDefinitions = defineSoftwareCheck({
  id: 'metallb-definitions',
  checks:
    "The API server accepts BGPPeers under MetalLB's definitions: from 1.36 on it refuses those of 0.15.3 and older.",
  good: "the API server can accept BGPPeers under MetalLB's definitions",
  needs: ['definitions', 'server'],
  kinds: 'all',
  judge({ definitions, server }) {
    if (server.major === 1 && server.minor < checksFormatsFrom) return []
    return definitions.flatMap((definition) => trapFindings(definition, server))
  },
})

function trapFindings(
  { metadata: { name }, spec }: KindDefinition,
  { version }: SoftwareFacts['server'],
): SoftwareFinding[] {
  const fields = (spec?.versions ?? [])
    .filter(({ served }) => served !== false)
    .flatMap(({ name: at, schema }) =>
      Object.entries(schema?.openAPIV3Schema?.properties?.['spec']?.properties ?? {})
        .filter(([, field]) => field?.format === 'int32' && (field.maximum ?? 0) > maxInt32)
        .map(([field]) => `${at} spec.${field}`),
    )
  if (fields.length === 0) return []
  return [
    {
      level: 'error',
      what: `CustomResourceDefinition ${name}: ${fields.join(', ')} has format int32 and a maximum beyond it`,
      why: `the API server ${version} refuses every such object, so MetalLB gets no BGPPeer`,
      fix: 'upgrade MetalLB to 0.16.1, or apply its definitions again without the lines `format: int32`',
    },
  ]
}
