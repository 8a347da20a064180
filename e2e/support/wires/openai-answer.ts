import type { OpenaiBody, OpenaiItem } from './openai-body.ts';
import { event, pieces, seal } from './seal.ts';
import { type ScriptedAnswer, tokensIn } from './wire.ts';

type Reasoning = Extract<OpenaiItem, { type: 'reasoning' }>;

/** Encrypts reasoning: the summary is shown, and must come back with it. */
export const encrypt = (id: string, summary: string): string => `gAAAAA${seal('reasoning', id, summary)}`;

/** Whether the encrypted reasoning of an item belongs to its id and summary. */
export const encryptedIn = ({ id = '', encrypted_content: encrypted, summary }: Reasoning): boolean =>
  encrypted === encrypt(id, summary.map(({ text }) => text).join(''));

/** An answer as OpenAI streams it. */
export function answerAsOpenai(body: OpenaiBody, answer: ScriptedAnswer): { events: string[]; dropped: number } {
  const { thoughts, text, calls = [], isCut } = answer;
  const response = { id: 'resp_01', object: 'response', created_at: 1_790_000_000, model: body.model, store: false };
  const began = { ...response, status: 'in_progress', output: [], error: null, incomplete_details: null, usage: null };
  const usage = {
    ...{ input_tokens: tokensIn(body), input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: tokensIn(answer), output_tokens_details: { reasoning_tokens: 0 } },
  };
  const id = `${body.input.length}`;
  const items = [
    ...(thoughts === undefined || !body.reasoning ? [] : [reasoningEvents(`rs_${id}`, thoughts)]),
    ...(text === undefined ? [] : [textEvents(`msg_${id}`, text)]),
    ...calls.map((call, index) => callEvents(`fc_${id}_${index}`, call)),
  ];
  const last = isCut
    ? {
        type: 'response.incomplete',
        response: { ...began, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage },
      }
    : { type: 'response.completed', response: { ...began, status: 'completed', usage } };
  const events = [
    { type: 'response.created', response: began },
    ...items.flatMap((item, index) => item.map((data) => ({ ...data, output_index: index }))),
    last,
  ];
  return { events: events.map((data, number) => event({ ...data, sequence_number: number }, data.type)), dropped: 0 };
}

type Event = { type: string } & Record<string, unknown>;

function reasoningEvents(id: string, text: string): Event[] {
  const item = { id, type: 'reasoning', summary: [] };
  const at = { item_id: id, summary_index: 0 };
  const encrypted = encrypt(id, text);
  return [
    { type: 'response.output_item.added', item: { ...item, encrypted_content: 'gAAAAA-first' } },
    { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
    ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
    { type: 'response.reasoning_summary_text.done', ...at, text },
    { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } },
    {
      type: 'response.output_item.done',
      item: { ...item, encrypted_content: encrypted, summary: [{ type: 'summary_text', text }] },
    },
  ];
}

function textEvents(id: string, text: string): Event[] {
  const item = { id, type: 'message', role: 'assistant' };
  const at = { item_id: id, content_index: 0 };
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  return [
    { type: 'response.output_item.added', item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', item: { ...item, status: 'completed', content: [part] } },
  ];
}

function callEvents(id: string, call: { id: string; name: string; arguments: object }): Event[] {
  const text = JSON.stringify(call.arguments);
  const item = { id, type: 'function_call', call_id: call.id, name: call.name };
  return [
    { type: 'response.output_item.added', item: { ...item, status: 'in_progress', arguments: '' } },
    ...pieces(text).map((delta) => ({ type: 'response.function_call_arguments.delta', item_id: id, delta })),
    { type: 'response.function_call_arguments.done', item_id: id, arguments: text, name: call.name },
    { type: 'response.output_item.done', item: { ...item, status: 'completed', arguments: text } },
  ];
}
