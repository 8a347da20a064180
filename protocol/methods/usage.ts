import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty, optionalText } from '../frames.ts';
import { BudgetState } from '../run-outcome.ts';

const Count = z.int().min(0);
const DAY = /^\d{4}-\d\d-\d\d$/;
const Day = z
  .string()
  .regex(DAY)
  .refine((day) => !DAY.test(day) || isDay(day), 'no day of the calendar');

/** What token counts are added up by. */
export const UsageGrouping = z.enum(['day', 'model', 'principal', 'workstream', 'run']);
export type UsageGrouping = z.infer<typeof UsageGrouping>;

/** Tokens and money. */
export const UsageTotal = z
  .strictObject({
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
    /** Input and output of calls that broke off before the provider counted them; part of the others. */
    estimatedTokens: Count.optional(),
  })
  .meta({ id: 'UsageTotal' });
export type UsageTotal = z.infer<typeof UsageTotal>;

/** Those of one day, model, principal, workstream or run. */
export const UsageRow = UsageTotal.extend({
  /** The day in UTC, `provider/model`, the principal, or the id of the workstream or run. */
  key: z.string(),
}).meta({ id: 'UsageRow' });
export type UsageRow = z.infer<typeof UsageRow>;

/** What an administrator adds usage up by. */
export const REPORT_GROUPINGS = ['day', 'hour', 'model', 'user'] as const;
/** A row of REPORT_GROUPINGS. */
export type ReportGrouping = (typeof REPORT_GROUPINGS)[number];

/** Tokens and money, with the tool calls that models asked for. */
export const UsageReportTotal = UsageTotal.extend({ toolCalls: Count }).meta({ id: 'UsageReportTotal' });
export type UsageReportTotal = z.infer<typeof UsageReportTotal>;

/** Those of one day, hour, model or user. */
export const UsageReportRow = UsageReportTotal.extend({
  /** The day or hour in UTC (`2026-01-31T09`), `provider/model`, or the id of the user or another principal. */
  key: z.string(),
  /** Of a user who exists. */
  username: z.string().optional(),
}).meta({ id: 'UsageReportRow' });
export type UsageReportRow = z.infer<typeof UsageReportRow>;

const UsageReport = z
  .strictObject({
    /** Of all rows, also of those that are left out. */
    summary: UsageReportTotal,
    breakdown: z.array(UsageReportRow),
    /** There are more rows than these. */
    truncated: z.literal(true).optional(),
  })
  .meta({ id: 'UsageReportResult' });
export type UsageReport = z.infer<typeof UsageReport>;

/** What models cost, and what they may cost. */
export const usageContracts = {
  'usage.get': contract({
    summary: 'Tokens and money by day, model, principal, workstream or run.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          /** Default: day. */
          by: UsageGrouping.optional(),
          /** First and last day, in UTC. Default: all. */
          from: Day.optional(),
          to: Day.optional(),
          wsId: optionalText(128),
        })
        .refine(({ from = '', to }) => to === undefined || from <= to, {
          path: ['to'],
          error: 'the last day is before the first',
        })
        .meta({ id: 'UsageGetParams' }),
    result: () =>
      z
        .strictObject({
          rows: z.array(UsageRow),
          /** Of all rows, also of those that are left out. Absent from earlier daemons. */
          total: UsageTotal.optional(),
          /** There are more rows than these. */
          truncated: z.literal(true).optional(),
        })
        .meta({ id: 'UsageGetResult' }),
  }),
  'usage.report': contract({
    summary: 'Tokens, tool calls and money of everybody by day, hour, model or user.',
    scope: 'approve',
    permission: 'admin.usage',
    weight: 3,
    params: () =>
      z
        .strictObject({
          /** The hours of both times count completely. Default: seven days ago, and no end. */
          sinceMs: z.int().min(0).optional(),
          untilMs: z.int().min(0).optional(),
          userId: optionalText(128),
          model: optionalText(256),
          /** One of REPORT_GROUPINGS. Default: day. */
          groupBy: optionalText(64),
        })
        .meta({ id: 'UsageReportParams' }),
    result: () => UsageReport,
  }),
  'budget.list': contract({
    summary: 'The budgets of today and, with `wsId`, those of the workstream and its run.',
    scope: 'read',
    params: () => z.strictObject({ wsId: optionalText(128) }).meta({ id: 'BudgetListParams' }),
    result: () => z.strictObject({ budgets: z.array(BudgetState) }).meta({ id: 'BudgetListResult' }),
  }),
  'budget.set': contract({
    summary: 'Set the budget of a workstream. Without `tokens` and `usd`, that of config.json applies again.',
    scope: 'approve',
    permission: 'approve',
    audit: { action: 'budget.set', id: 'wsId' },
    params: () =>
      z
        .strictObject({
          wsId: NonEmpty.max(128),
          tokens: z.int().min(1).max(1_000_000_000_000).optional(),
          usd: z.number().min(0.000001).max(1_000_000).optional(),
        })
        .meta({ id: 'BudgetSetParams' }),
    result: () => z.strictObject({ budgets: z.array(BudgetState) }).meta({ id: 'BudgetSetResult' }),
  }),
};

function isDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
