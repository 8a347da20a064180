import type { ChatBody } from './chat-wire.ts';
import { event, pieces } from './seal.ts';
import { type ScriptedAnswer, tokensIn } from './wire.ts';

/** An answer as chat completions stream it. */
export function answerAsChat(body: Pick<ChatBody, 'model' | 'messages'>, answer: ScriptedAnswer): string[] {
  const { thoughts = '', text = '', calls = [], isCut } = answer;
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: body.model };
  const reason = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop';
  const deltas: object[] = [
    { role: 'assistant', content: '' },
    ...pieces(thoughts).flatMap((piece) => (piece === '' ? [] : [{ reasoning_content: piece }])),
    ...pieces(text).flatMap((piece) => (piece === '' ? [] : [{ content: piece }])),
    ...calls.flatMap(({ id, name, arguments: args }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...pieces(JSON.stringify(args)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
  const usage = { prompt_tokens: tokensIn(body), completion_tokens: tokensIn(answer) };
  return [
    ...deltas.map((delta) => event({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] })),
    event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
    event({ ...chunk, choices: [], usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }),
    'data: [DONE]\n\n',
  ];
}
