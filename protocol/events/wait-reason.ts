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
