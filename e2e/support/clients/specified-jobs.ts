import { z } from 'zod';

/*
 * Scheduled jobs for a client written only from the specification: any addition is an error. Deliberately
 * not generated from the contract, which is checked against it.
 */

const Text = z.string().min(1);
const Whole = z.int().min(0);

const Schedule = z.union([
  z.strictObject({ kind: z.literal('at'), atMs: Whole }),
  z.strictObject({ kind: z.literal('every'), everyMs: z.int().min(1), anchorMs: Whole.optional() }),
  z.strictObject({ kind: z.literal('cron'), expr: Text, tz: z.string().optional() }),
]);

const Payload = z.union([
  z.strictObject({ kind: z.literal('systemEvent'), text: Text }),
  z.strictObject({
    kind: z.literal('agentTurn'),
    message: Text,
    thinking: z.string().optional(),
    timeoutSeconds: z.int().min(1).optional(),
    deliver: z.boolean().optional(),
    channel: z.string().optional(),
    to: z.string().optional(),
    bestEffortDeliver: z.boolean().optional(),
  }),
]);

const Job = z.strictObject({
  id: Text,
  name: z.string().optional(),
  enabled: z.boolean(),
  createdAtMs: Whole,
  updatedAtMs: Whole,
  schedule: Schedule,
  sessionTarget: z.enum(['main', 'isolated']),
  wakeMode: z.enum(['next-heartbeat', 'now']),
  payload: Payload,
  isolation: z.strictObject({ postToMainPrefix: z.string().optional() }).optional(),
  state: z.strictObject({
    nextRunAtMs: Whole.optional(),
    runningAtMs: Whole.optional(),
    lastRunAtMs: Whole.optional(),
    lastDurationMs: Whole.optional(),
    lastStatus: z.enum(['ok', 'error', 'skipped']).optional(),
    lastError: z.string().optional(),
  }),
});

/** Throws if the answer contains anything that is not in the specification. */
export const readSpecifiedJob = (answer: unknown) => Job.parse(answer);
export const readSpecifiedList = (answer: unknown) => z.strictObject({ jobs: z.array(Job) }).parse(answer).jobs;
