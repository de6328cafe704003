import { announcerAnnotations } from '../../announcers/announcers.ts'
import { secretAnnotations } from '../../certs/authority-secret.ts'
import { nodeAnnotations } from '../../controllers/nodes/node-addresses.ts'
import {
  conditions,
  finalizers,
  leaseAnnotations,
  ledgerAnnotations,
  recordAnnotations,
  recordLabels,
  serviceAnnotations,
} from '../../ledger/record/names.ts'
import type { Annotation, WrittenName } from '../../lib/annotation.ts'
import { takeoverAnnotations, takeoverLabels } from '../../commands/takeover/annotations.ts'
import { dialects } from '../../clouds/dialects.ts'
import type { Dialect } from '../../clouds/dialect/define-dialect.ts'
import { code, markdownTable } from '../markdown.ts'
import type { Setting } from '../../settings/setting.ts'
import { answerProbe } from '../../webhooks/webhook.ts'
import { probeAnnotation } from '../../webhooks/webhook-probe.ts'

const prefixes = dialects
  .flatMap(({ name, annotationPrefix }: Dialect) =>
    annotationPrefix === undefined ? [] : [`  The dialect \`${name}\` does the same for \`${annotationPrefix}\`.`],
  )
  .join('\n')

const opening = `# Annotations, labels and finalizers

This page lists every annotation that eip-admission reads or writes, and its own labels, finalizers and conditions.

- \`--cloud-provider\` chooses the dialect. A dialect has its own annotations; all others exist in every
  dialect.
- A setting can change the names of some annotations. Its flag is next to the name; see [settings](settings.md).
- Admission refuses an annotation of a Service that begins with \`eip-admission.dev/\` and is not in these tables. The error
  names the most similar annotation.
${prefixes}
- \`{{n}}\` is the number of a peer, from 0.
`

const announcerIntro = `Annotations of MetalLB, Cilium, Calico and kube-vip have an effect if the load balancer setting chooses that software. With
\`empty://\`, so does the annotation that \`ip-annotation\` names. An address that a user requests in this way is a user-chosen address:
eip-admission reserves nothing for it.
`

/** The reference page of all annotations, in Markdown, from the tables that the code itself uses. */
export function annotationsReference(): string {
  return [
    opening,
    section('Services, in every dialect', serviceAnnotations.map(annotationRow)),
    section('By announcing software', announcerAnnotations.map(annotationRow), announcerIntro),
    ...dialects.flatMap(dialectSection),
    section(
      'Other objects, in every dialect',
      [
        ...nodeAnnotations,
        ...recordAnnotations,
        ...ledgerAnnotations,
        ...leaseAnnotations,
        ...secretAnnotations,
        ...probeAnnotations,
        ...takeoverAnnotations,
      ].map(annotationRow),
    ),
    nameSection('Labels', [...recordLabels, ...probeLabels, ...takeoverLabels]),
    nameSection('Finalizers', finalizers),
    nameSection('Conditions', conditions),
  ].join('\n')
}

function section(heading: string, rows: string[][], intro?: string): string {
  const table = markdownTable(['annotation', 'object', 'values', 'default', 'written by', 'meaning'], rows)
  return [`## ${heading}\n`, ...(intro === undefined ? [] : [intro]), `${table}\n`].join('\n')
}

/** The section of a dialect; nothing for a dialect without annotations of its own. */
function dialectSection({ name, title, rows, annotations }: Dialect): string[] {
  const named = Object.values(rows).flatMap((setting: Setting<unknown>) => {
    const { annotation, flag } = setting
    if (annotation === undefined || !('default' in setting)) return []
    const [first = '', ...others] = annotationRow({ name: setting.default, ...annotation })
    return [[`${first} (${code(flag)})`, ...others]]
  })
  const own = [...named, ...annotations.map(annotationRow)]
  if (own.length === 0) return []
  const intro = `Annotations of the dialect \`${name}\`. The flag in brackets changes the name of the annotation.\n`
  return [section(title, own, intro)]
}

function annotationRow({ name, on, values, default: fallback = '', writers, sentence }: Annotation): string[] {
  const allowed = typeof values === 'string' ? values : values.map(code).join(', ')
  return [code(name), on, allowed, fallback, writers.join(', '), sentence]
}

function nameSection(heading: string, names: readonly WrittenName[]): string {
  const rows = names.map(({ name, on, sentence }) => [code(name), on, sentence])
  return `## ${heading}\n\n${markdownTable([heading.toLowerCase().replace(/s$/, ''), 'object', 'meaning'], rows)}\n`
}

/** The annotation of the object with which we probe our own webhooks. */
const probeAnnotations: readonly Annotation[] = [
  {
    name: probeAnnotation,
    on: 'ConfigMap',
    writers: ['eip-admission'],
    values: 'the name of a replica',
    sentence: 'The answer to a dry run that checks whether the API server calls eip-admission. It is never stored.',
  },
]

/** The label of that object. */
const probeLabels: readonly WrittenName[] = [
  { name: answerProbe.label, on: 'ConfigMap', sentence: 'Marks that dry run, so that no other object is reviewed.' },
]
