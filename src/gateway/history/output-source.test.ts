import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createOutputs } from '../../agent/outputs/outputs.ts';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { createOutputSource } from './output-source.ts';

/** A conversation with one finished call, and the whole text of a call's output. */
async function withCall(outcome: ToolOutcome) {
  const gateway = await wholeGateway({ execute: async () => outcome });
  gateway.puppet.turn(calling('look', {}, 'call_1'));
  await (await gateway.accept('look'))?.ended;
  const folder = join(gateway.dir, 'outputs');
  await mkdir(folder);
  const source = createOutputSource({
    store: gateway.store,
    outputs: createOutputs({ folder, stored: undefined, log: gateway.log }),
  });
  return Object.assign(gateway, {
    folder,
    source,
    async read(wsId: string, callId: string): Promise<string> {
      const found = await source.open(wsId, callId);
      if (found.kind !== 'found') return found.kind;
      const pieces: Buffer[] = [];
      for await (const piece of found.pieces) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    },
  });
}

test('a short output comes from its message, a long one from its file', async () => {
  await using short = await withCall({ output: 'all of it', outcome: 'done' });
  assert.equal(await short.read(await short.main(), 'call_1'), 'all of it');
  const kept = { name: 'out_1.log', bytes: 9 };
  await using long = await withCall({ output: 'a [...] i', outcome: 'failed', kept });
  await writeFile(join(long.folder, 'out_1.log'), 'abcdefghi');
  assert.equal(await long.read(await long.main(), 'call_1'), 'abcdefghi');
});

test('an output whose file is gone has expired', async () => {
  await using gateway = await withCall({ output: 'a', outcome: 'done', kept: { name: 'out_1.log', bytes: 9 } });
  assert.equal(await gateway.read(await gateway.main(), 'call_1'), 'expired');
});

test('calls of other workstreams, of cleared conversations and without a result are unknown', async () => {
  await using gateway = await withCall({ output: 'secret', outcome: 'done' });
  const wsId = await gateway.main();
  const { wsId: other } = await gateway.call('workstream.create', {});
  assert.deepEqual(
    [await gateway.read(other, 'call_1'), await gateway.read(wsId, 'call_2'), await gateway.read('x', 'call_1')],
    ['unknown', 'unknown', 'unknown'],
  );
  await gateway.call('workstream.command', { wsId, command: '/clear' });
  assert.equal(await gateway.read(wsId, 'call_1'), 'unknown');
});
