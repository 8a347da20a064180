import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { toPrompt } from './prompt.ts';

/** The names, texts and calls of a request that a model gets. */
const sentOf = (messages: Message[], provider = 'anthropic') =>
  toPrompt({ system: '', messages }, { provider, modelId: 'm', sendsPlainReasoning: true }).map(({ role, content }) => [
    role,
    ...[content].flat().map((part) => {
      if (typeof part === 'string') return part;
      return 'toolName' in part ? part.toolName : 'text' in part ? part.text : part.type;
    }),
  ]);

test('names that a model has invented are sent as every provider accepts them', () => {
  const sentFor = (name: string) =>
    sentOf([
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name, arguments: '{}' }] },
      { role: 'tool', callId: 'a', name, output: 'Unknown tool.', outcome: 'failed' },
    ]).map(([, name]) => name);
  for (const [name, sent] of [
    ['mcp__Notes__a-b', 'mcp__Notes__a-b'],
    ['functions.bash', 'functions_bash'],
    ['bash größe', 'bash_gr__e'],
    ['', 'unnamed'],
    ['x'.repeat(65), 'x'.repeat(64)],
  ] as const)
    assert.deepEqual(sentFor(name), [sent, sent]);
});

test('texts of only white space are not sent, but signatures of Google on them are', () => {
  const call = { id: 'a', name: 'bash', arguments: '{}' };
  const asks: Message = { role: 'user', content: 'go' };
  const withParts = (options: object | undefined): Message => ({
    ...{ role: 'assistant', content: '\n\n', toolCalls: [call] },
    providerData: {
      anthropic: {
        modelId: 'm',
        parts: [
          { type: 'reasoning', text: 'hm', options: { anthropic: { signature: 's' } } },
          { type: 'text', text: '\n\n', ...(options && { options }) },
          { type: 'tool-call', callId: 'a' },
        ],
      },
    },
  });
  assert.deepEqual(
    [
      sentOf([asks, { role: 'assistant', content: ' \n', reasoning: 'hm', toolCalls: [] }, asks]),
      sentOf([{ role: 'assistant', content: ' \n', toolCalls: [call] }]),
      sentOf([withParts(undefined)]),
      sentOf([withParts({ google: { thoughtSignature: 's' } })]),
    ],
    [
      [['user', 'go\n\ngo']],
      [['assistant', 'bash']],
      [['assistant', 'hm', 'bash']],
      [['assistant', 'hm', '\n\n', 'bash']],
    ],
  );
});

test('a message of a person with only white space next to a file is its file', () => {
  const file = { attachment_id: 'x', filename: 'x.png', mime_type: 'image/png', size_bytes: 3, kind: 'image' as const };
  const [message] = sentOf([{ role: 'user', content: ' \n', attachments: [file] }]);
  assert.deepEqual([message?.length, message?.[1]?.includes('x.png')], [2, true]);
});
