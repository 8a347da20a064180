import { findUnbound, signatureFor, summarySeal } from './anthropic-binding.ts';
import type { AnthropicBody } from './anthropic-body.ts';
import { event, pieces } from './seal.ts';
import { type ScriptedAnswer, tokensIn } from './wire.ts';

/** An answer as Anthropic streams it. */
export function answerAsAnthropic(body: AnthropicBody, answer: ScriptedAnswer): { events: string[]; dropped: number } {
  const unbound = findUnbound(body);
  const transformations = unbound.map((path) => ({ type: 'dropped', path, reason: 'prefix_mismatch' }));
  const usage = { input_tokens: tokensIn(body), output_tokens: tokensIn(answer) };
  const message = {
    ...{ model: body.model, id: 'msg_01', type: 'message', role: 'assistant', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
    ...(transformations.length > 0 && { input_transformations: transformations }),
  };
  const { calls = [], isCut } = answer;
  const reason =
    body.compaction && !isCut ? 'compaction' : isCut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
  const events = [
    { type: 'message_start', message },
    ...blocksOf(body, answer).flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return { events: events.map((data) => event(data, data.type)), dropped: unbound.length };
}

interface Block {
  start: object;
  deltas: object[];
}

function blocksOf(body: AnthropicBody, { thoughts: given, text, calls = [], isCut }: ScriptedAnswer): Block[] {
  // One that reaches the output limit is no summary.
  if (body.compaction && !isCut) {
    const content = text ?? 'They talked.';
    return [{ start: { type: 'compaction', content, signature: summarySeal(content) }, deltas: [] }];
  }
  const blocks: Block[] = [];
  // With a budget, every answer begins with thoughts.
  const thoughts = body.thinking?.type === 'enabled' ? (given ?? 'Hm.') : given;
  if (thoughts !== undefined && isThinking(body)) {
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces(thoughts).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: signatureFor(body, thoughts) },
      ],
    });
  }
  if (text !== undefined) {
    const deltas = pieces(text).map((piece) => ({ type: 'text_delta', text: piece }));
    blocks.push({ start: { type: 'text', text: '' }, deltas });
  }
  for (const { id, name, arguments: input } of calls) {
    const deltas = pieces(JSON.stringify(input)).map((json) => ({ type: 'input_json_delta', partial_json: json }));
    blocks.push({ start: { type: 'tool_use', id, name, input: {} }, deltas });
  }
  return blocks;
}

const isThinking = ({ thinking }: AnthropicBody): boolean => thinking !== undefined && thinking.type !== 'disabled';
