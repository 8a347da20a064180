import type { Message, ToolCall } from '../../message.ts';
import type { ModelRequest } from '../../providers/model.ts';
import type { SummaryModel } from '../../run/window/run-window.ts';
import type { Assessment } from '../assessment.ts';
import { readJudgeAnswer } from './judge-answer.ts';
import { ANSWER_NOW, JUDGE_INSTRUCTIONS } from './judge-prompt.ts';
import type { JudgeTools } from './judge-tools.ts';

/** How often the model may be asked about one call. */
const MOST_TURNS = 5;
const MOST_CALLS = 4;
const MOST_ANSWER = 32_768;

interface Asked {
  model: Pick<SummaryModel, 'stream'>;
  /** See toJudgeMessage. */
  question: string;
  /** Undefined: it answers at once. */
  tools: JudgeTools | undefined;
  /** Names the beginning that its requests share. */
  conversation: string;
}

/**
 * Asks a model about a call, in a conversation of its own. Undefined if its answer has no verdict. Throws what the model
 * throws, and the signal's reason.
 */
export async function askJudge(
  { model, question, tools, conversation }: Asked,
  signal: AbortSignal,
): Promise<Assessment | undefined> {
  const messages: Message[] = [{ role: 'user', content: question }];
  for (let turn = 1; turn <= MOST_TURNS; turn += 1) {
    const request = { ...toRequest(messages, tools), conversation };
    const { text, calls } = await collect(model.stream(request, signal), signal);
    if (calls.length === 0 || turn === MOST_TURNS || tools === undefined) return readJudgeAnswer(text);
    messages.push({ role: 'assistant', content: text, toolCalls: calls });
    for (const [index, call] of calls.entries()) {
      const output = index < MOST_CALLS ? await tools.run(call, signal) : 'Too many calls at once.';
      messages.push({ role: 'tool', callId: call.id, name: call.name, output, outcome: 'done' });
    }
    if (turn === MOST_TURNS - 1) messages.push({ role: 'user', content: ANSWER_NOW });
  }
  return undefined;
}

/** Every request of a judgement begins like the one before it. */
const toRequest = (messages: readonly Message[], tools: JudgeTools | undefined): ModelRequest => ({
  system: JUDGE_INSTRUCTIONS,
  messages: [...messages],
  tools: tools?.definitions ?? [],
  effort: 'low',
  maxOutputTokens: 2_048, // models that reason count their thoughts, too
  typedByPerson: false,
});

async function collect(parts: ReturnType<SummaryModel['stream']>, signal: AbortSignal) {
  let text = '';
  const calls: ToolCall[] = [];
  for await (const part of parts) {
    signal.throwIfAborted();
    if (part.type === 'content' && text.length < MOST_ANSWER) text += part.text;
    if (part.type === 'tool_call') calls.push(part.call);
  }
  return { text, calls };
}
