import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChosenPrompt } from '../../agent/mcp/catalog/chosen-prompts.ts';
import { NO_TOOL_SERVERS } from '../../agent/mcp/no-servers-fixture.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

async function open() {
  const chosen: (ChosenPrompt & { user: string })[] = [];
  const gateway = await wholeGateway({
    toolServers: {
      ...NO_TOOL_SERVERS,
      prompts: {
        list: async () => [
          {
            server: 'a',
            prompts: [
              {
                name: 'review',
                description: 'Reviews\n\u202ecode.',
                args: [{ name: 'file', description: '', isRequired: true }],
              },
            ],
          },
          { server: 'b', prompts: [], problem: 'ended with exit code 3' },
        ],
        async get(one) {
          chosen.push(one);
          if (one.name === 'broken') throw new Error('no such prompt');
          return one.server === 'a' ? 'Review this.' : undefined;
        },
      },
    },
  });
  const wsId = await gateway.main();
  const run = async (command: string) => {
    const { error } = await gateway.call('workstream.command', { wsId, command });
    const last = (await gateway.events(wsId)).findLast(({ type }) => type === 'info');
    return error ?? (last?.type === 'info' ? last.message : undefined);
  };
  return { gateway, wsId, chosen, run };
}

test('/prompt lists the prompts of tool servers', async () => {
  const { gateway, run } = await open();
  await using _ = gateway;
  assert.equal(
    await run('/prompt'),
    [
      'a review  file  Reviews\\n\\u202ecode.',
      'b cannot be asked: ended with exit code 3',
      '/prompt SERVER NAME ARGUMENT=VALUE sends one. Its text is written by others, so it can run nothing unasked.',
    ].join('\n'),
  );
});

test('a chosen prompt is sent as a message of somebody who may not approve', async () => {
  const { gateway, wsId, chosen, run } = await open();
  await using _ = gateway;
  await run('/prompt a review file=a.ts tone="two words" empty=');
  assert.deepEqual(chosen, [
    { server: 'a', name: 'review', args: { file: 'a.ts', tone: 'two words', empty: '' }, user: '' },
  ]);
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['[The prompt review of the tool server a, written by its author:]\nReview this.'],
  );
  const row = await gateway.store.db.selectFrom('runs').select('request_json').executeTakeFirstOrThrow();
  assert.equal(JSON.parse(row.request_json).rights, 'write');
});

test('a prompt that cannot be sent is refused with the reason', async () => {
  const { gateway, run } = await open();
  await using _ = gateway;
  assert.equal(await run('/prompt a'), 'Usage: /prompt [SERVER NAME [ARGUMENT=VALUE …]]');
  assert.match(String(await run('/prompt a review file')), /^file is not ARGUMENT=VALUE\. /);
  assert.equal(await run('/prompt a broken'), 'The tool server a: no such prompt');
  assert.equal(await run('/prompt c review'), 'No tool server c offers prompts. /prompt lists those that do.');
});
