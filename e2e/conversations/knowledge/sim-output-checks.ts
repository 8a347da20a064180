import { z } from 'zod';
import type { OutputChecks } from '../../../src/agent/output/answer-checks.ts';

const Answer = z.strictObject({ answer: z.string() });

/** Checks answers as the daemon does, for the one form that is asked for, and in this thread: a seed gives the same each time. */
export const simOutputChecks: OutputChecks = {
  problemOf: async () => undefined,
  async check({ text }) {
    const fits = Answer.safeParse(read(text));
    if (fits.success) return { fits: true, output: fits.data };
    return { fits: false, errors: [{ path: '', message: 'must be JSON, without any other text' }] };
  },
};

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
