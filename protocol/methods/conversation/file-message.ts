import { z } from 'zod';
import { Instant } from '../../cron.ts';
import { LIMITS } from '../../limits.ts';
import { MessageFailure } from '../../run-outcome.ts';
import { CallOutcome } from '../../stream-events.ts';

const Count = z.int().min(0);
const base = { createdMs: Instant };

/** A message of a person or a program. */
export const UserInFile = z.strictObject({
  ...base,
  role: z.literal('user'),
  content: z.string(),
  /** Places in `files`, from 0. */
  files: z.array(Count).min(1).max(LIMITS.attachmentsPerMessage).optional(),
  failed: MessageFailure.optional(),
});

/** An answer of the model. */
export const AssistantInFile = z.strictObject({
  ...base,
  role: z.literal('assistant'),
  content: z.string(),
  reasoning: z.string().optional(),
  toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  partial: z.boolean().optional(),
  cutPart: z.strictObject({ contentChars: Count, reasoningChars: Count }).optional(),
});

/** The result of a call. */
export const ResultInFile = z.strictObject({
  ...base,
  role: z.literal('tool'),
  callId: z.string(),
  name: z.string(),
  output: z.string(),
  outcome: CallOutcome,
  exitCode: z.int().optional(),
  durationMs: z.number().min(0).optional(),
  notSandboxed: z.string().optional(),
  notice: z.string().optional(),
  /** The size of the whole output, when `output` has only its two ends. */
  wholeBytes: Count.optional(),
});

/** A message of an exported conversation. */
export const FileMessage = z.discriminatedUnion('role', [UserInFile, AssistantInFile, ResultInFile]);
export type FileMessage = z.infer<typeof FileMessage>;
