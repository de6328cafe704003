/**
 * The advice for an installation that lacks something. Only `doctor` reads how it was installed. `install`
 * without the flags of that time would move it to another namespace, and set back what the chart has set.
 */
export const doctorAdvice =
  'run `eip-admission doctor` with the settings and the namespace of serve, which says how to fix it'
