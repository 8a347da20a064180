import type { StatusRecord, StreamEvent } from '../../../protocol/stream-events.ts';
import { until } from '../../timing/until.ts';
import { readAttached } from '../attached-content.ts';
import type { AssistantMessage, ToolCall } from '../message.ts';
import type { Model, ModelPart, Usage } from '../providers/model.ts';
import type { RunContext } from './run-context.ts';
import { systemPrompt } from './system-prompt.ts';

type Finish = Extract<ModelPart, { type: 'finish' }>;

/**
 * How a model turn ended. `partial` is what was shown before it broke off. `isBlocked`: a content filter of the
 * provider left nothing.
 */
export type Generated =
  | { kind: 'answered'; calls: ToolCall[]; text: string; isBlocked?: true }
  | { kind: 'broken'; error: unknown; partial: AssistantMessage | undefined };

/** Requests one turn from the model, streams it into the log and records the complete answer. */
export async function generate(run: RunContext): Promise<Generated> {
  const model = await until(run.settings.model(), run.signal);
  await run.recorder.record({
    events: [{ type: 'thinking_start' }, { type: 'ws_state', ws_id: run.wsId, state: 'thinking' }],
    journal: [{ kind: 'model_called', afterSeq: run.messageCount }],
  });
  const answer = collector(run);
  try {
    for await (const part of model.stream(await requestOf(run), run.signal)) answer.take(part);
    run.signal.throwIfAborted();
    return await recordAnswer(run, model, answer.whole());
  } catch (error) {
    return { kind: 'broken', error, partial: answer.partial() };
  }
}

const requestOf = async (run: RunContext) => ({
  system: systemPrompt({ workdir: run.settings.workdir.path, nowMs: run.clock.now() }),
  messages: run.messages,
  attachments: await readAttached(run.messages, run.readAttachment),
  tools: run.toolbox.definitions(),
  effort: run.settings.effort,
  typedByPerson: run.source === 'person',
});

interface Whole {
  message: AssistantMessage;
  finish: Finish | undefined;
  spoke: boolean;
}

function collector(run: RunContext) {
  const calls: ToolCall[] = [];
  let content = '';
  let reasoning = '';
  let finish: Finish | undefined;
  let spoke = false;

  const message = (): AssistantMessage => ({
    role: 'assistant',
    content,
    ...(reasoning !== '' && { reasoning }),
    toolCalls: calls,
    ...(finish?.providerData && { providerData: finish.providerData }),
  });
  const firstWord = () => {
    if (!spoke) run.recorder.emit({ type: 'thinking_stop' });
    spoke = true;
  };
  return {
    take(part: ModelPart) {
      if (part.type === 'finish') {
        finish = part;
        return;
      }
      firstWord();
      if (part.type === 'tool_call') {
        calls.push(part.call);
        return;
      }
      if (part.text === '') return;
      run.recorder.emit({ type: part.type, text: part.text });
      if (part.type === 'content') content += part.text;
      else reasoning += part.text;
    },
    whole: (): Whole => ({ message: message(), finish, spoke }),
    partial: (): AssistantMessage | undefined =>
      content === '' && reasoning === '' ? undefined : { ...message(), toolCalls: [], partial: true },
  };
}

async function recordAnswer(run: RunContext, model: Model, { message, finish, spoke }: Whole): Promise<Generated> {
  const usage = finish?.usage ?? { promptTokens: 0, completionTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const cut = finish?.reason === 'length';
  // A call with incomplete arguments must not run.
  const stored: AssistantMessage = cut ? { ...message, toolCalls: [], partial: true } : message;
  const events: StreamEvent[] = [
    ...(spoke ? [] : [{ type: 'thinking_stop' } as const]),
    { type: 'stream_end' },
    { type: 'status', ...statusOf(usage, model.contextWindow, run.settings.effort) },
  ];
  for (const message of warningsOf(finish)) events.push({ type: 'error', message });
  await run.recorder.record({
    events,
    messages: [stored],
    journal: [{ kind: 'model_answered', calls: stored.toolCalls }],
    usage: { usage, contextWindow: model.contextWindow },
  });
  const isEmpty = stored.content === '' && stored.toolCalls.length === 0;
  const blocked = isEmpty && finish?.reason === 'content_filter' ? { isBlocked: true as const } : {};
  return { kind: 'answered', calls: stored.toolCalls, text: stored.content, ...blocked };
}

function warningsOf(finish: Finish | undefined): string[] {
  const warnings = finish?.warning === undefined ? [] : [finish.warning];
  if (finish?.reason === 'length') warnings.push('Warning: the answer was cut off at the model’s output limit.');
  if (finish?.reason === 'content_filter') warnings.push('Warning: the provider’s content filter ended the answer.');
  return warnings;
}

/** Token use relative to the context window; `pct` has one decimal and is 0 when the window is unknown. */
export function statusOf(usage: Usage, contextWindow: number, effort: StatusRecord['effort']): StatusRecord {
  const total = usage.promptTokens + usage.completionTokens;
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: total,
    context_window: contextWindow,
    pct: contextWindow === 0 ? 0 : Math.round((total / contextWindow) * 1000) / 10,
    effort,
    cache_creation_tokens: usage.cacheCreationTokens,
    cache_read_tokens: usage.cacheReadTokens,
  };
}
