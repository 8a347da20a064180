import type { healthContracts } from '../../../protocol/methods/health.ts';
import type { Handlers } from '../call.ts';
import type { Health } from '../health.ts';
import type { HealthSamples } from '../metrics/health-samples.ts';

interface HealthMethodDeps {
  health: Pick<Health, 'current'>;
  samples: Pick<HealthSamples, 'list'>;
}

export const healthMethods = ({ health, samples }: HealthMethodDeps): Handlers<keyof typeof healthContracts> => ({
  health: () => health.current(),
  'health.history': ({ stepMinutes = 1 }) => ({ stepMinutes, samples: samples.list(stepMinutes) }),
});
