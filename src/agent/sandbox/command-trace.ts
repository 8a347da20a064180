import type { ExceededLimit } from './limits/limits.ts';
import type { PlantedPath } from './protected-paths.ts';

/** What is noticed of a command besides its end. */
export interface CommandTrace {
  limit?: ExceededLimit;
  /** It left these, and programs outside the sandbox obey them. */
  planted?: readonly PlantedPath[];
}

export const toTrace = (limit: ExceededLimit | undefined, planted: readonly PlantedPath[]): CommandTrace => ({
  ...(limit !== undefined && { limit }),
  ...(planted.length > 0 && { planted }),
});
