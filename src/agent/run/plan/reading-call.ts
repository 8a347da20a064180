import type { Message, ToolCall, ToolMessage } from '../../message.ts';
import { mayChangeFiles } from '../../permissions/changes-files.ts';
import type { ToolDefinition } from '../../providers/model.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import { blockedText } from '../approval/blocked-text.ts';
import { rulingOf } from '../approval/ruling.ts';
import { type ReadTaint, taintOf } from '../approval/taint.ts';
import { type BatchCall, prepareCall, toHooked } from '../batch-call.ts';
import type { RunContext } from '../run-context.ts';
import { outputBytesIn } from '../window/model-windows.ts';

/**
 * The tools of a planner. A command runs only if it is known to read and nothing else. Not `read_output`: the planner's calls
 * are not stored, and their ids may be those of other calls.
 */
const READING_TOOLS: ReadonlySet<string> = new Set(['read_file', 'search', 'glob', 'list_directory', 'bash']);

/** Who reads: its messages are its own, and its calls run as parts of a call of the conversation. */
export interface Reader {
  run: RunContext;
  /** The call of the conversation. */
  callId: string;
  messages: readonly Message[];
}

/** The tools that may only read, as they are described to models. */
export const readingTools = ({ toolbox }: Pick<RunContext, 'toolbox'>): ToolDefinition[] =>
  toolbox.definitions().filter(({ name }) => READING_TOOLS.has(name));

/**
 * Runs a call if it only reads, under the rules, hooks, confinement and guard of the conversation; otherwise its result says
 * why it did not run. Nobody is asked.
 */
export async function runReading(reader: Reader, call: ToolCall): Promise<{ message: ToolMessage; taint?: ReadTaint }> {
  const run = readOnlyRun(reader);
  const item = await prepareCall(run, call);
  let refusal = refusalOf(run, item);
  if (refusal === undefined) {
    const said = await run.hooks.beforeTool(toHooked(item, 'before'));
    if (said !== undefined) item.blockedByHook = said;
    refusal = refusalOf(run, item);
  }
  if (refusal !== undefined) return { message: toMessage(call, { output: refusal, outcome: 'blocked' }) };
  run.recorder.emit({ type: 'tool_output_chunk', call_id: reader.callId, chunk: `${wordsOf(item)}\n` });
  const result = await run.hooks.afterTool(toHooked(item, 'after'), await execute(reader, item));
  const taint = taintOf(item) ?? result.taint;
  return { message: toMessage(call, result), ...(taint && { taint }) };
}

/** The run as its rules see it in the mode `read_only`, with the messages of the reader. All else is looked up in the run. */
function readOnlyRun({ run, messages }: Reader): RunContext {
  const settings: RunContext['settings'] = Object.create(run.settings, {
    mode: { value: 'read_only' },
    autoApprove: { value: false },
  });
  return Object.create(run, {
    messages: { value: messages },
    settings: { value: settings },
    judge: { value: undefined },
  });
}

/** Why the call does not run; undefined: it runs. */
function refusalOf(run: RunContext, item: BatchCall): string | undefined {
  const { prepared, call } = item;
  if (!READING_TOOLS.has(call.name)) return ONLY_READING;
  if (prepared.kind === 'refused') return prepared.reason;
  const ruling = rulingOf(run, item);
  if (ruling.verdict === 'block') return blockedText(item, ruling);
  if (ruling.verdict === 'ask') return WOULD_ASK;
  const changes =
    mayChangeFiles(prepared) || prepared.backgroundSecs !== undefined || prepared.sandboxOff !== undefined;
  return changes ? ONLY_READING : undefined;
}

const ONLY_READING = 'Not run: a planner may only read. Put what is to be changed or run into the plan.';
const WOULD_ASK =
  'Not run: this call needs the approval of a person, and a planner asks for none. Find out in another way, or put it into the plan.';

async function execute({ run, callId }: Reader, { prepared, ...item }: BatchCall): Promise<ToolOutcome> {
  if (prepared.kind === 'refused') return { output: prepared.reason, outcome: 'failed' };
  try {
    return await prepared.execute({
      signal: run.signal,
      taint: taintOf({ prepared, ...item }),
      maxOutputBytes: outputBytesIn(run.window.lastWindow()),
      onOutput: () => undefined,
      // A restart finds and ends it by the call of the conversation.
      onProcess: (process) =>
        run.recorder.record({ journal: [{ kind: 'tool_process', callId, process }], durable: true }),
    });
  } catch (error) {
    run.signal.throwIfAborted();
    return { output: `Error: ${error instanceof Error ? error.message : 'the tool failed'}`, outcome: 'failed' };
  }
}

const wordsOf = ({ call, prepared: { subject } }: BatchCall): string =>
  subject === '' ? call.name : `${call.name}: ${subject}`;

/** Images cannot be kept outside a conversation. */
const toMessage = ({ id, name }: ToolCall, { output, outcome, images }: ToolOutcome): ToolMessage => ({
  role: 'tool',
  callId: id,
  name,
  output: images ? `${output}\n[The image itself is not shown to a planner.]` : output,
  outcome,
});
