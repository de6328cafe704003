import type { ControllerObserver } from '../../controllers/controller.ts'

/** Counts nothing. */
export const noObserver: ControllerObserver = {
  reconciled() {},
  added() {},
  retried() {},
  waited() {},
}
