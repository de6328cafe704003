// Webhooks that the API server does not reach.
import { test } from 'uvu'
import { eventually } from '../eventually.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const configuration = 'mutatingwebhookconfiguration/zz-eip-admission'

/** Has the API server call the webhooks there. */
async function lead(url: string): Promise<void> {
  const patch = [{ op: 'replace', path: '/webhooks/0/clientConfig/url', value: url }]
  await stage.run('patch', configuration, '--type=json', '-p', JSON.stringify(patch))
}

test(
  'webhooks that the API server does not reach for an hour',
  inHours(stage, async ({ start, pass, expect }) => {
    const product = await start('a')
    const shows = (reached: 0 | 1) =>
      eventually(`webhooks_reached is ${reached}`, async () => {
        const { text } = await product.health('/metrics')
        return text.includes(`\neip_admission_webhooks_reached ${reached}\n`) || undefined
      })
    const url = await stage.run('get', configuration, '-o', 'jsonpath={.webhooks[0].clientConfig.url}')
    await pass(10)
    await lead('https://127.0.0.1:1/elsewhere')
    await shows(0)
    await pass(60)
    await lead(url)
    await shows(1)
    await pass(45)
    await expect(['EIPAdmissionServicesMissed', 'EIPAdmissionWebhooksNotReached'], { atEnd: [] })
  }),
)

test.after(() => stage.close())

test.run()
