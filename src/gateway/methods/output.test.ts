import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { testGuard } from '../../agent/guard/guard-fixture.ts';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

/** A gateway whose tool `print` has printed this text, in the call `call_1` of `main`. */
async function printed(outcome: Omit<ToolOutcome, 'outcome'>, files: Record<string, string> = {}) {
  const toolbox = createToolbox(
    [
      {
        name: 'print',
        description: 'Prints.',
        parameters: z.object({}),
        readOnly: true,
        safeToRepeat: true,
        prepare: async () => ({
          kind: 'ready',
          subject: '',
          preview: '',
          approvalLabel: 'print',
          needsApproval: false,
          execute: async () => ({ ...outcome, outcome: 'done' }),
        }),
      },
    ],
    testGuard(),
  );
  const gateway = await wholeGateway({
    toolbox,
    readOutput: async (name, { offset, limit }) => {
      const text = files[name];
      return text === undefined ? undefined : { text: text.slice(offset, offset + limit), totalBytes: text.length };
    },
  });
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('print', {}, 'call_1'));
  await gateway.call('workstream.send', { wsId, message: 'print' });
  await gateway.isIdle(wsId);
  return { gateway, wsId, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

test('a long output can be read completely in parts, and events and history have its length', async () => {
  const kept = { name: 'out_1.log', bytes: 12 };
  await using it = await printed({ output: 'line …', kept }, { 'out_1.log': 'line 1\nlast\n' });
  const { gateway, wsId } = it;
  assert.deepEqual(
    [
      await gateway.call('output.read', { wsId, callId: 'call_1' }),
      await gateway.call('output.read', { wsId, callId: 'call_1', offset: 7, limit: 4 }),
    ],
    [
      { text: 'line 1\nlast\n', offset: 0, totalBytes: 12 },
      { text: 'last', offset: 7, totalBytes: 12 },
    ],
  );
  const result = (await gateway.events(wsId)).find(({ type }) => type === 'tool_result');
  const { messages } = await gateway.call('workstream.history', { wsId });
  const shown = messages.find(({ role }) => role === 'tool');
  assert.deepEqual([result?.type === 'tool_result' && result.whole_bytes, shown?.whole_bytes], [12, 12]);
});

test('the part that the history leaves out of an output without a file can be read too', async () => {
  const output = `${'ä'.repeat(40_000)}end`;
  await using it = await printed({ output });
  const { gateway, wsId } = it;
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.equal(messages.find(({ role }) => role === 'tool')?.whole_bytes, 80_003);
  const part = await gateway.call('output.read', { wsId, callId: 'call_1', offset: 79_999 });
  assert.deepEqual(part, { text: 'äend'.slice(1), offset: 79_999, totalBytes: 80_003 });
});

test('an unknown call, a call of another workstream and a missing file are NOT_FOUND', async () => {
  await using it = await printed({ output: '…', kept: { name: 'out_1.log', bytes: 12 } });
  const { gateway, wsId } = it;
  const { wsId: other } = await gateway.call('workstream.create', {});
  const refusals = [
    await gateway.refusal('output.read', { wsId, callId: 'call_2' }),
    await gateway.refusal('output.read', { wsId: other, callId: 'call_1' }),
    await gateway.refusal('output.read', { wsId, callId: 'call_1' }),
  ];
  assert.deepEqual(
    refusals.map(({ code, message }) => `${code}: ${message}`),
    [
      'NOT_FOUND: No finished call has this id',
      'NOT_FOUND: No finished call has this id',
      'NOT_FOUND: This output has expired',
    ],
  );
});
