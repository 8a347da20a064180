import { z } from 'zod';

/** Why a request to the model is repeated after a wait. */
export const WaitReason = z
  .enum([
    'rate_limited',
    'overloaded', // the upstream has too much to do
    'unreachable',
    'timeout',
    'interrupted', // the answer ended before its first word
  ])
  .meta({ id: 'WaitReason' });
export type WaitReason = z.infer<typeof WaitReason>;

/** That the model's server refused or did not answer, and when it is asked again. */
export const waitShape = {
  reason: WaitReason,
  /** The error, for people. */
  message: z.string(),
  until_ms: z.int().min(0),
  /** The number of the attempt that follows, from 2, and of the last one. */
  attempt: z.int().min(2),
  attempts: z.int().min(2),
  /** The model that is waited for. */
  model_alias: z.string(),
};
