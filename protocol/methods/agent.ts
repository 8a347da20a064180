import { z } from 'zod';
import { contract } from '../contract.ts';
import { IdempotencyKey, NonEmpty, optionalText } from '../frames.ts';
import { isDeeper } from '../is-record.ts';
import { OutputError } from '../run-outcome.ts';

const Count = z.int().min(0);
const MAX_SCHEMA_DEPTH = 24;

/** A JSON Schema (draft 2020-12, or draft-07 by `$schema`) that the last answer of a run has to fit. */
export const OutputSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => !isDeeper(schema, MAX_SCHEMA_DEPTH), {
    error: `must be nested at most ${MAX_SCHEMA_DEPTH} levels deep`,
  })
  .meta({ id: 'OutputSchema' });

/**
 * A message of a program. `sessionKey` or `sessionId` names the session (default: the main one); `deliver` also sends the
 * answer to `to` over `channel`.
 */
export const AgentParams = z
  .strictObject({
    message: NonEmpty,
    idempotencyKey: IdempotencyKey,
    to: optionalText(),
    sessionId: optionalText(),
    sessionKey: optionalText(),
    thinking: optionalText(),
    deliver: z.boolean().optional(),
    channel: optionalText(),
    /** Seconds; 0 or absent: no limit. The time that a person takes to decide does not count. */
    timeout: Count.optional(),
    outputSchema: OutputSchema.optional(),
  })
  .meta({ id: 'AgentParams' });

/** One event of a run's output for protocol-2 clients: `data` depends on `stream`. */
export const AgentEvent = z
  .strictObject({
    runId: NonEmpty,
    seq: Count,
    stream: NonEmpty,
    ts: Count,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AgentEvent' });
export type AgentEvent = z.infer<typeof AgentEvent>;

/** Methods with which programs start runs and wait for them (PROTOCOL.md, "Methods"). */
export const agentContracts = {
  agent: contract({
    summary: 'Run an agent turn. Two answers on one id: accepted, then the final one.',
    scope: 'write',
    params: () => AgentParams,
    interim: () => z.strictObject({ runId: NonEmpty, status: z.literal('accepted') }).meta({ id: 'AgentAccepted' }),
    result: () =>
      z
        .strictObject({
          runId: NonEmpty,
          status: z.enum(['ok', 'error']),
          summary: z.string(),
          /** The answer as data that fits `outputSchema`. */
          output: z.unknown().optional(),
        })
        .meta({ id: 'AgentResult' }),
    idempotency: 'required',
  }),
  'agent.wait': contract({
    summary: 'Wait for a run to end; a timeout is a successful answer, and 0 returns the current state.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          runId: NonEmpty,
          sessionKey: optionalText(),
          timeoutMs: Count.max(3_600_000).optional(),
          /** After its end, also returns what the model said last in it. */
          withAnswer: z.boolean().optional(),
        })
        .meta({ id: 'AgentWaitParams' }),
    result: () =>
      z
        .strictObject({
          runId: NonEmpty,
          status: z.enum(['ok', 'error', 'timeout']),
          startedAt: Count.optional(),
          endedAt: Count.optional(),
          error: z.string().optional(),
          /** With `withAnswer`; absent if the model said nothing, or if that was taken back. */
          answer: z.string().optional(),
          /** The answer as data, if the run had an `outputSchema`. */
          output: z.unknown().optional(),
          /** No answer fitted `outputSchema`: what was wrong with the last one. */
          outputErrors: z.array(OutputError).optional(),
        })
        .meta({ id: 'AgentWaitResult' }),
  }),
};
