import { z } from 'zod';
import type { HookMoment } from './hook-command.ts';

/** What a hook may say. Nothing of it lifts a rule or an approval. */
export interface HookAnswer {
  decision?: 'block' | undefined;
  reason?: string | undefined;
  context?: string | undefined;
}

/** Strict, because a misspelled `decision` would let a call run. */
const ANSWERS: Record<HookMoment, z.ZodType<HookAnswer>> = {
  before_tool: z.strictObject({ decision: z.literal('block').optional(), reason: z.string().optional() }),
  after_tool: z.strictObject({ context: z.string().optional() }),
  run_end: z.strictObject({}),
  attention: z.strictObject({}),
};

type ReadAnswer = { kind: 'read'; answer: HookAnswer } | { kind: 'unreadable'; why: string };

/** Reads what a hook printed; nothing is an answer, too. */
export function readAnswer(at: HookMoment, printed: string): ReadAnswer {
  if (printed.trim() === '') return { kind: 'read', answer: {} };
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    return { kind: 'unreadable', why: 'what it printed is not one JSON object' };
  }
  const read = ANSWERS[at].safeParse(value);
  if (read.success) return { kind: 'read', answer: read.data };
  const problems = read.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  return { kind: 'unreadable', why: `its answer is not valid at ${at} (${problems.join('; ')})` };
}
