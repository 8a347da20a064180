import { z } from 'zod';
import type { CallOutcome } from '../../../../../protocol/stream-events.ts';
import type { Connection } from '../../sqlite/sqlite-connection.ts';
import { rewriteEvents, rewriteMessages } from './rewrite-bodies.ts';

/**
 * Adds outcomes to the results of tool calls. Before schema version 17 only their texts showed the outcome, and this is
 * the only code that still parses them.
 */
export function fillOutcomes(connection: Connection): void {
  rewriteEvents(connection, {
    beginnings: ['{"type":"tool_result"', '{"type":"history"'],
    rewrite: (body) => rewrite(StoredEvent, body),
  });
  rewriteMessages(connection, { beginnings: ['{"role":"tool"'], rewrite: (body) => rewrite(StoredMessage, body) });
}

interface Result {
  isError: boolean;
  output: string;
  /** A refused call has no duration and no exit code. */
  hasRun: boolean;
}

function outcomeOf({ isError, output, hasRun }: Result): CallOutcome {
  if (!isError) return 'done';
  if (/^Outcome unknown|its outcome is unknown$|Whether the command ran on the node is not known\.$/.test(output))
    return 'unknown';
  if (
    /^(Cancelled by user|Not run: the run had ended)/.test(output) ||
    /\[(cancelled|stopped by shutdown)\]\s*$/.test(output)
  )
    return 'cancelled';
  if (hasRun) return 'failed';
  if (output.startsWith('Denied by user')) return 'denied';
  if (output.startsWith('Approval timed out')) return 'expired';
  return /^(Blocked|Not run: nobody is there to approve it)/.test(output) ? 'blocked' : 'failed';
}

const shown = { is_error: z.boolean(), exit_code: z.number().optional(), duration_ms: z.number().optional() };
const hasRun = ({ exit_code, duration_ms }: { exit_code?: number | undefined; duration_ms?: number | undefined }) =>
  exit_code !== undefined || duration_ms !== undefined;

const ResultEvent = z
  .looseObject({ type: z.literal('tool_result'), output: z.string(), outcome: z.undefined().optional(), ...shown })
  .transform((event) => ({
    ...event,
    outcome: outcomeOf({ isError: event.is_error, output: event.output, hasRun: hasRun(event) }),
  }));

const HistoryEvent = z.looseObject({
  type: z.literal('history'),
  messages: z.array(
    z.union([
      z
        .looseObject({ role: z.literal('tool'), content: z.string(), outcome: z.undefined().optional(), ...shown })
        .transform((message) => ({
          ...message,
          outcome: outcomeOf({ isError: message.is_error, output: message.content, hasRun: hasRun(message) }),
        })),
      z.looseObject({}),
    ]),
  ),
});

const StoredEvent = z.union([ResultEvent, HistoryEvent]);

const StoredMessage = z
  .looseObject({
    role: z.literal('tool'),
    output: z.string(),
    isError: z.boolean(),
    exitCode: z.number().optional(),
    durationMs: z.number().optional(),
  })
  .transform(({ isError, ...message }) => {
    const ran = message.exitCode !== undefined || message.durationMs !== undefined;
    return { ...message, outcome: outcomeOf({ isError, output: message.output, hasRun: ran }) };
  });

/** Undefined for a body that is not a result, or already has its outcome. */
function rewrite(schema: z.ZodType, body: string): string | undefined {
  const parsed = schema.safeParse(JSON.parse(body));
  return parsed.success ? JSON.stringify(parsed.data) : undefined;
}
