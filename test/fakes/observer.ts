import type { ControllerObserver } from '../../controllers/loop/controller.ts'

/** Counts nothing. */
export const noObserver: ControllerObserver = () => ({
  begun: () => () => {},
  added() {},
  retried() {},
  waited() {},
})
