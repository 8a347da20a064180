import type { PlantedRepository } from './barriers.ts';
import type { ExceededLimit } from './limits/limits.ts';

/** What is noticed of a command besides its end. */
export interface CommandTrace {
  limit?: ExceededLimit;
  /** It left these repositories, whose programs a git outside the sandbox runs. */
  planted?: readonly PlantedRepository[];
}

export const toTrace = (limit: ExceededLimit | undefined, planted: readonly PlantedRepository[]): CommandTrace => ({
  ...(limit !== undefined && { limit }),
  ...(planted.length > 0 && { planted }),
});
