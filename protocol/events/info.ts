import { z } from 'zod';

/** The subject of an `info`, by which clients decide. `model_fallback`: another model answers for the rest of the run. */
const InfoCode = z.enum(['model_fallback']);

/** The fields of an `info`, also as a note. */
export const infoShape = {
  message: z.string(),
  code: InfoCode.optional(),
  /** How important it is; absent means `info`. */
  level: z.literal('warning').optional(),
};
