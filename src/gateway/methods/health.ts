import type { healthContracts } from '../../../protocol/methods/health.ts';
import type { Handlers } from '../call.ts';
import type { Health } from '../health.ts';

export const healthMethods = (health: Health): Handlers<keyof typeof healthContracts> => ({
  health: () => health.current(),
  'health.history': ({ stepMinutes = 1 }) => ({ stepMinutes, samples: health.history(stepMinutes) }),
});
