import { z } from 'zod';
import { contract } from '../contract.ts';
import { optionalText } from '../frames.ts';

const Count = z.int().min(0);
const Day = z.iso.date();

/** What token counts are added up by. */
export const UsageGrouping = z.enum(['day', 'model', 'principal', 'workstream', 'run']);
export type UsageGrouping = z.infer<typeof UsageGrouping>;

/** Tokens and money of one day, model, principal, workstream or run. */
export const UsageRow = z
  .strictObject({
    /** The day in UTC, `provider/model`, the principal, or the id of the workstream or run. */
    key: z.string(),
    /** Answered model turns. */
    turns: Count,
    /** With cached tokens. */
    inputTokens: Count,
    cacheReadTokens: Count,
    cacheWriteTokens: Count,
    /** With reasoning. */
    outputTokens: Count,
    reasoningTokens: Count,
    /** By the prices at that time, in US dollars. */
    costUsd: z.number().min(0),
    /** Input and output of models without a price; `costUsd` does not include them. */
    unpricedTokens: Count,
  })
  .meta({ id: 'UsageRow' });
export type UsageRow = z.infer<typeof UsageRow>;

/** What models cost. */
export const usageContracts = {
  'usage.get': contract({
    summary: 'Tokens and money by day, model, principal, workstream or run.',
    scope: 'read',
    weight: 3,
    params: z
      .strictObject({
        /** Default: day. */
        by: UsageGrouping.optional(),
        /** First and last day, in UTC. Default: all. */
        from: Day.optional(),
        to: Day.optional(),
        wsId: optionalText(128),
      })
      .meta({ id: 'UsageGetParams' }),
    result: z.strictObject({ rows: z.array(UsageRow) }).meta({ id: 'UsageGetResult' }),
  }),
};
