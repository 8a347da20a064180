import { z } from 'zod';
import type { ToolOutcome } from '../tool.ts';

/** The id of a background command, as models name it. */
export const BashId = z.string().min(1).max(128).describe('The id that bash returned for the background command');

/** The result of a call about a command that does not exist. */
export const toUnknown = (commandId: string): ToolOutcome => ({
  output: `No background command of this conversation has the id "${commandId}".`,
  outcome: 'failed',
});
