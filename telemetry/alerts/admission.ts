import { type AlertGroup, alertsOf, per, perInstall, rises, where } from './alert.ts'
import { cloudCauses } from './cloud.ts'

const unreached = { file: 'guides/troubleshooting.md', heading: 'The API server cannot reach the webhooks' }

/** Reviews that are missed, are slow or end in an error. */
export const admissionAlerts: AlertGroup = {
  title: 'Admission',
  alerts: alertsOf({
    EIPAdmissionWebhooksNotReached: {
      severity: 'critical',
      for: '10m',
      expr: `max ${perInstall} (eip_admission_webhooks_reached) == 0`,
      summary: 'The API server does not call the webhooks, or does not use their answers.',
      description: `No probe of eip-admission ${where} came back through the API server.`,
      symptom:
        'With failurePolicy Ignore, Services get their address later and mistakes pass; with Fail they are refused.',
      action: 'Run `doctor`: `webhooks-reached` has the reason, as has the line `[!] admission` of `/readyz`.',
      guide: unreached,
    },
    EIPAdmissionServicesMissed: {
      severity: 'warning',
      for: '5m',
      expr: `sum ${perInstall} (increase(eip_admission_services_without_admission_total[30m])) > 2`,
      summary: 'Services were created without a review, and the controllers completed them.',
      description: `{{ $value | printf "%.0f" }} Services passed the webhooks of eip-admission ${where} within 30 minutes.`,
      symptom: 'New Services get their address later, and mistakes are not refused.',
      action:
        'Run `doctor`, and look for `failed calling webhook` in the log of the API server. Services that `webhooks.excludedNamespaces` or a selector of the chart excludes count too. If you ' +
        'exclude them on purpose, silence the alert.',
      guide: unreached,
    },
    EIPAdmissionReviewsSlow: {
      severity: 'warning',
      for: '15m',
      expr:
        `histogram_quantile(0.95, sum ${per('webhook', 'le')} ` +
        `(rate(eip_admission_review_duration_seconds_bucket[10m]))) > 5`,
      quietWhile: cloudCauses,
      summary: 'Reviews take more than half of the time that the API server waits.',
      description: `One in 20 reviews of {{ $labels.webhook }} ${where} takes more than {{ $value | humanizeDuration }}; the time-out is 10 s.`,
      symptom: '`kubectl create` takes seconds. Beyond the time-out, Services get their address later.',
      action:
        'Compare with the duration of the `reserve` calls in the row _The provider_ of the dashboard. If the provider is slow, use a warm pool (`--warm-pool`).',
      guide: { file: 'guides/troubleshooting.md', heading: '`kubectl create` takes long' },
    },
    EIPAdmissionReviewsFail: {
      severity: 'warning',
      for: '5m',
      expr: rises('eip_admission_review_duration_seconds_count{verdict="error"}', {
        by: per('webhook'),
        window: '15m',
      }),
      summary: 'Reviews end in an internal error.',
      description: `{{ $value | printf "%.0f" }} reviews of {{ $labels.webhook }} ${where} failed within 15 minutes.`,
      symptom: 'The same as if the webhook could not be reached: the Service gets its address later, or is refused.',
      action: 'Run `kubectl logs` of each replica and look for `no decision`. This is a bug: report it.',
      guide: unreached,
    },
  }),
}
