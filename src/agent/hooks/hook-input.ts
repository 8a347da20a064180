import { isRecord } from '../../../protocol/is-record.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import { takeHead } from '../process/byte-ends.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { HookMoment } from './hook-command.ts';
import type { HookedCall, HookedRun, RunEnd, WaitingQuestion } from './hooked-run.ts';

/** Of the JSON that hooks read. It grows when a field changes its meaning or goes, not when one is added. */
const VERSION = 1;
const MAX_OUTPUT_BYTES = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** The text that a hook reads: one JSON object in one line. Secrets in it are replaced, as in outputs. */
export async function toInput(
  at: HookMoment,
  { wsId, runId, workdir }: Pick<HookedRun, 'wsId' | 'runId' | 'workdir'>,
  { fields, guard }: { fields: Fields; guard: OutputGuard },
): Promise<string> {
  const whole = { version: VERSION, moment: at, workstream: wsId, run: runId, folder: workdir.path, ...fields };
  return `${JSON.stringify(await cleaned(whole, guard))}\n`;
}

export const toCallFields = ({ callId, tool, canonicalArguments }: HookedCall): Fields => ({
  call: callId,
  tool,
  arguments: JSON.parse(canonicalArguments),
});

export function toResultFields({ output, outcome, exitCode }: ToolOutcome): Fields {
  const bytes = Buffer.from(output);
  const head = takeHead(bytes, { maxBytes: MAX_OUTPUT_BYTES, maxLines: Number.POSITIVE_INFINITY });
  return {
    outcome,
    ...(exitCode !== undefined && { exit_code: exitCode }),
    output: head.toString('utf8'),
    output_bytes: bytes.length,
  };
}

export const toEndFields = ({ status, error, summary }: RunEnd): Fields => ({
  status,
  ...(error !== undefined && { error }),
  ...cutSummary(summary),
});

const cutSummary = (summary: string) => ({
  summary: takeHead(Buffer.from(summary), {
    maxBytes: MAX_OUTPUT_BYTES,
    maxLines: Number.POSITIVE_INFINITY,
  }).toString('utf8'),
});

export const toQuestionFields = ({ approvalId, kind, items }: WaitingQuestion): Fields => ({
  approval: approvalId,
  kind,
  calls: items.map(({ call_id: call, func_name: tool, subject = '' }) => ({ call, tool, subject })),
});

/** Longer texts are cleaned in slices, so that nothing else waits for it. */
const LONG = 64 * 1024;

async function cleaned(value: unknown, guard: OutputGuard): Promise<unknown> {
  if (typeof value === 'string') return value.length > LONG ? (await guard.check(value)).text : guard.clean(value);
  if (Array.isArray(value)) return Promise.all(value.map((one) => cleaned(one, guard)));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(async ([key, one]) => [guard.clean(key), await cleaned(one, guard)]);
  return Object.fromEntries(await Promise.all(entries));
}
