// Pages that install the product: their commands are run on a cluster with a node that runs pods.
import { test } from 'uvu'
import { clusterPages, runPage } from '../docs/run-page.ts'

for (const page of clusterPages()) test(`${page.file} does what it says`, () => runPage(page))

test.run()
