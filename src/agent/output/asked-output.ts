import type { CheckedOutput, OutputSchema } from './answer-checks.ts';

/** What a run needs to answer with data. */
export interface RunOutput {
  schema: OutputSchema;
  /** Whether the caller may give instructions that count as those of a person who may approve. */
  isTrusted: boolean;
  /** Checks an answer. Rejects with the signal's reason. */
  check(text: string, signal: AbortSignal): Promise<CheckedOutput>;
}
