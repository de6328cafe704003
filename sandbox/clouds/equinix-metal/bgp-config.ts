import { unprocessable } from './errors.ts'
import { objectOf, textOf } from '../request-body.ts'
import { type BgpConfig, type State, newId } from './state.ts'

/** 10 to 20 letters and digits, with at least one lower-case letter, one upper-case letter and one digit. */
const password = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[a-zA-Z\d]{10,20}$/
const largestAsn = 4_294_967_295

/** Reads the body of `POST /projects/{id}/bgp-configs`. Local BGP is enabled at once; a person reviews global BGP. */
export function readBgpConfig(state: State, sent: unknown): BgpConfig {
  const { deployment_type: deploymentType, asn, md5 } = objectOf(sent)
  // An empty password means none: a widely used client sends it.
  const hasPassword = md5 !== undefined && md5 !== null && md5 !== ''
  const problems = [
    ...(deploymentType === 'local' || deploymentType === 'global' ? [] : ['Deployment type must be local or global']),
    ...(isAsn(asn) ? [] : [`Asn must be a whole number from 0 to ${largestAsn}`]),
    ...(!hasPassword || password.test(textOf(md5)) ? [] : ['Md5 is invalid']),
  ]
  if (problems.length > 0) throw unprocessable(...problems)
  return {
    id: newId(),
    status: deploymentType === 'local' ? 'enabled' : 'requested',
    deploymentType: deploymentType === 'local' ? 'local' : 'global',
    asn: Number(asn),
    md5: hasPassword ? textOf(md5) : null,
    createdAt: state.timestamp(),
  }
}

function isAsn(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= largestAsn
}
